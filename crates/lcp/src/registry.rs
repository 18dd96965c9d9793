//! The one table of all pairings. Tool schemas, documentation and tests are made from it.

use crate::{Pairing, pairings};

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The pairing's id.
    pub id: &'static str,
    /// The rail, as documentation names it.
    pub rail: &'static str,
    /// Whether what the buyer signs holds H.
    pub buyer_signs_h: bool,
    /// Whether an agreement payment is made first.
    pub agreement_first: bool,
    /// The pairing.
    pub pairing: &'static dyn Pairing,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// The pairing of that id.
pub fn pairing(id: &str) -> Option<&'static dyn Pairing> {
    PAIRINGS.iter().find(|entry| entry.id == id).map(|entry| entry.pairing)
}

/// The x402 pairings in the order in which an agreement's option is tried on them.
pub fn agreement_pairings() -> impl Iterator<Item = &'static dyn Pairing> {
    AGREEMENT_ORDER.iter().filter_map(|id| pairing(id))
}

const fn row(id: &'static str, rail: &'static str, buyer_signs_h: bool, agreement_first: bool, pairing: &'static dyn Pairing) -> Entry {
    Entry { id, rail, buyer_signs_h, agreement_first, pairing }
}

/// Every pairing the tools accept.
#[rustfmt::skip]
pub static PAIRINGS: [Entry; 67] = [
    row("mpp/charge/evm/authorization", "EVM", true, false, &pairings::mpp::charge::evm::authorization::PAIRING),
    row("mpp/charge/evm/hash", "EVM", false, true, &pairings::mpp::charge::evm::hash::PAIRING),
    row("mpp/charge/evm/permit2", "EVM", true, false, &pairings::mpp::charge::evm::permit2::PAIRING),
    row("mpp/charge/evm/transaction", "EVM", false, true, &pairings::mpp::charge::evm::transaction::PAIRING),
    row("mpp/charge/usdc/evm", "EVM", true, false, &pairings::mpp::charge::usdc::evm::PAIRING),
    row("mpp/charge/usdc/gateway", "EVM", true, false, &pairings::mpp::charge::usdc::gateway::PAIRING),
    row("mpp/session/evm", "EVM", true, false, &pairings::mpp::session::evm::PAIRING),
    row("x402/auth-capture/eip155/eip3009", "EVM", true, false, &pairings::x402::auth_capture::eip155::eip3009::PAIRING),
    row("x402/auth-capture/eip155/permit2", "EVM", true, false, &pairings::x402::auth_capture::eip155::permit2::PAIRING),
    row("x402/batch-settlement/eip155", "EVM", true, false, &pairings::x402::batch_settlement::eip155::PAIRING),
    row("x402/exact/eip155/eip3009", "EVM", true, false, &pairings::x402::exact::eip155::eip3009::PAIRING),
    row("x402/exact/eip155/erc7710", "EVM", false, true, &pairings::x402::exact::eip155::erc7710::PAIRING),
    row("x402/exact/eip155/erc7710-salt", "EVM", true, false, &pairings::x402::exact::eip155::erc7710_salt::PAIRING),
    row("x402/exact/eip155/permit2", "EVM", true, false, &pairings::x402::exact::eip155::permit2::PAIRING),
    row("x402/upto/eip155/permit2", "EVM", true, false, &pairings::x402::upto::eip155::permit2::PAIRING),
    row("mpp/charge/tempo/memo", "Tempo", false, false, &pairings::mpp::charge::tempo::memo::PAIRING),
    row("mpp/charge/tempo/push", "Tempo", false, false, &pairings::mpp::charge::tempo::push::PAIRING),
    row("mpp/session/tempo", "Tempo", true, false, &pairings::mpp::session::tempo::PAIRING),
    row("mpp/subscription/tempo", "Tempo", true, false, &pairings::mpp::subscription::tempo::PAIRING),
    row("mpp/charge/solana", "Solana", true, false, &pairings::mpp::charge::solana::PAIRING),
    row("mpp/charge/usdc/solana", "Solana", true, false, &pairings::mpp::charge::usdc::solana::PAIRING),
    row("mpp/session/solana", "Solana", false, false, &pairings::mpp::session::solana::PAIRING),
    row("x402/batch-settlement/solana", "Solana", true, false, &pairings::x402::batch_settlement::solana::PAIRING),
    row("x402/exact/solana", "Solana", true, false, &pairings::x402::exact::solana::PAIRING),
    row("x402/upto/solana", "Solana", true, false, &pairings::x402::upto::solana::PAIRING),
    row("mpp/charge/stellar", "Stellar", false, false, &pairings::mpp::charge::stellar::PAIRING),
    row("x402/exact/stellar", "Stellar", false, false, &pairings::x402::exact::stellar::PAIRING),
    row("mpp/charge/xrpl", "XRP Ledger", true, false, &pairings::mpp::charge::xrpl::PAIRING),
    row("mpp/session/xrpl", "XRP Ledger", true, false, &pairings::mpp::session::xrpl::PAIRING),
    row("x402/exact/xrpl", "XRP Ledger", true, false, &pairings::x402::exact::xrpl::PAIRING),
    row("mpp/charge/hedera", "Hedera", false, false, &pairings::mpp::charge::hedera::PAIRING),
    row("mpp/session/hedera", "Hedera", true, false, &pairings::mpp::session::hedera::PAIRING),
    row("x402/exact/hedera", "Hedera", true, false, &pairings::x402::exact::hedera::PAIRING),
    row("x402/exact/hedera/transfer-executor", "Hedera", false, true, &pairings::x402::exact::hedera::transfer_executor::PAIRING),
    row("x402/exact/algorand", "Algorand", true, false, &pairings::x402::exact::algorand::PAIRING),
    row("x402/exact/aptos", "Aptos", false, true, &pairings::x402::exact::aptos::PAIRING),
    row("x402/exact/sui", "Sui", true, false, &pairings::x402::exact::sui::PAIRING),
    row("mpp/charge/nearintents", "NEAR", false, true, &pairings::mpp::charge::nearintents::PAIRING),
    row("x402/exact/near", "NEAR", true, false, &pairings::x402::exact::near::PAIRING),
    row("x402/exact/starknet", "Starknet", true, false, &pairings::x402::exact::starknet::PAIRING),
    row("x402/exact/polkadot/lcp-assets-remark", "Polkadot", true, false, &pairings::x402::exact::polkadot::lcp_assets_remark::PAIRING),
    row("x402/exact/tron/lcp-trc20-memo", "TRON", true, false, &pairings::x402::exact::tron::lcp_trc20_memo::PAIRING),
    row("x402/exact/tvm", "TON", true, false, &pairings::x402::exact::tvm::PAIRING),
    row("x402/exact/cardano", "Cardano", true, false, &pairings::x402::exact::cardano::PAIRING),
    row("x402/exact/casper", "Casper", true, false, &pairings::x402::exact::casper::PAIRING),
    row("x402/exact/ccd", "Concordium", true, false, &pairings::x402::exact::ccd::PAIRING),
    row("mpp/charge/usdc/stacks", "Stacks", true, false, &pairings::mpp::charge::usdc::stacks::PAIRING),
    row("mpp/charge/lightning", "Lightning", false, true, &pairings::mpp::charge::lightning::PAIRING),
    row("mpp/session/lightning", "Lightning", false, true, &pairings::mpp::session::lightning::PAIRING),
    row("x402/exact/lnbtc", "Lightning", false, true, &pairings::x402::exact::lnbtc::PAIRING),
    row("x402/exact/lnbtc/invoice-named", "Lightning", false, true, &pairings::x402::exact::lnbtc::invoice_named::PAIRING),
    row("x402/batch-settlement/cloudflare", "Cloudflare", true, true, &pairings::x402::batch_settlement::cloudflare::PAIRING),
    row("card/mastercard-vi/autonomous", "Card", true, true, &pairings::card::mastercard_vi::autonomous::PAIRING),
    row("card/mastercard-vi/immediate", "Card", true, true, &pairings::card::mastercard_vi::immediate::PAIRING),
    row("card/seller-reference", "Card", false, true, &pairings::card::seller_reference::PAIRING),
    row("card/visa-tap", "Card", true, true, &pairings::card::visa_tap::PAIRING),
    row("mpp/charge/card", "Card", false, true, &pairings::mpp::charge::card::PAIRING),
    row("mpp/charge/stripe", "Stripe", false, true, &pairings::mpp::charge::stripe::PAIRING),
    row("mpp/subscription/stripe", "Stripe", false, true, &pairings::mpp::subscription::stripe::PAIRING),
    row("ap2/checkout-mandate", "Mandate", true, true, &pairings::ap2::checkout_mandate::PAIRING),
    row("ucp/booking/ap2-mandate", "Mandate", true, true, &pairings::ucp::booking::ap2_mandate::PAIRING),
    row("ucp/checkout/ap2-mandate", "Mandate", true, true, &pairings::ucp::checkout::ap2_mandate::PAIRING),
    row("ack/payment-request", "Checkout", false, true, &pairings::ack::payment_request::PAIRING),
    row("acp/checkout/delegated", "Checkout", false, true, &pairings::acp::checkout::delegated::PAIRING),
    row("acp/checkout/undelegated", "Checkout", false, true, &pairings::acp::checkout::undelegated::PAIRING),
    row("ucp/booking/unsigned", "Checkout", false, true, &pairings::ucp::booking::unsigned::PAIRING),
    row("ucp/checkout/unsigned", "Checkout", false, true, &pairings::ucp::checkout::unsigned::PAIRING),
];

/// The order in which an agreement's option is tried.
#[rustfmt::skip]
const AGREEMENT_ORDER: [&str; 29] = [
    "x402/exact/eip155/eip3009",
    "x402/auth-capture/eip155/eip3009",
    "x402/auth-capture/eip155/permit2",
    "x402/batch-settlement/cloudflare",
    "x402/batch-settlement/eip155",
    "x402/batch-settlement/solana",
    "x402/exact/algorand",
    "x402/exact/aptos",
    "x402/exact/cardano",
    "x402/exact/casper",
    "x402/exact/ccd",
    "x402/exact/eip155/erc7710",
    "x402/exact/eip155/erc7710-salt",
    "x402/exact/eip155/permit2",
    "x402/exact/hedera",
    "x402/exact/hedera/transfer-executor",
    "x402/exact/lnbtc",
    "x402/exact/lnbtc/invoice-named",
    "x402/exact/near",
    "x402/exact/polkadot/lcp-assets-remark",
    "x402/exact/solana",
    "x402/exact/starknet",
    "x402/exact/stellar",
    "x402/exact/sui",
    "x402/exact/tron/lcp-trc20-memo",
    "x402/exact/tvm",
    "x402/exact/xrpl",
    "x402/upto/eip155/permit2",
    "x402/upto/solana",
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_rows_agree_with_their_pairings() {
        assert_eq!(PAIRINGS.iter().map(|entry| entry.id).collect::<HashSet<_>>().len(), 67);
        for entry in &PAIRINGS {
            assert_eq!(entry.pairing.id(), entry.id);
            assert_eq!(entry.pairing.public_proof(), !entry.agreement_first, "{}", entry.id);
        }
    }

    #[test]
    fn every_x402_pairing_has_a_place_in_the_agreement_order() {
        let listed: HashSet<_> = PAIRINGS.iter().map(|entry| entry.id).filter(|id| id.starts_with("x402/")).collect();
        assert_eq!(listed, AGREEMENT_ORDER.into_iter().collect());
    }
}
