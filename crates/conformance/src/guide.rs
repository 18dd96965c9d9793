//! `docs/pairings.md`, written from the registry, the facts below, and one recorded payment of each pairing.

use std::{collections::BTreeMap, fmt::Write, io, path::Path};

use lcp::{Object, Value, json, registry::PAIRINGS};

use crate::row::{self, Row};

/// What a pairing proves, and which values of the buyer's own its build takes. `?` marks one that may be left out.
struct Facts {
    id: &'static str,
    proves: &'static str,
    inputs: &'static str,
}

const fn facts(id: &'static str, proves: &'static str, inputs: &'static str) -> Facts {
    Facts { id, proves, inputs }
}

const NONE: &str = "none";
const ECHO: &str = "the payment echoes the seller's legal context, which the buyer does not sign; the agreement payment is the proof";
const AGREEMENT: &str = "nothing in the payment names H; the agreement payment is the proof";
const SOLANA_MEMO: &str = "a memo instruction of the signed message is the LCP string of H";

#[rustfmt::skip]
const FACTS: [Facts; 67] = [
    facts("mpp/charge/evm/authorization", "the nonce of the signed transfer is the hash of the challenge's id, which derives from H", "`tokenDomain` {name, version}"),
    facts("mpp/charge/evm/hash", AGREEMENT, NONE),
    facts("mpp/charge/evm/permit2", "the signed witness holds the hash of the challenge's id, which derives from H", "`spender`"),
    facts("mpp/charge/evm/transaction", AGREEMENT, NONE),
    facts("mpp/charge/usdc/evm", "the nonce of the signed transfer derives from the challenge, whose id derives from H", "`tokenDomain` {name, version}"),
    facts("mpp/charge/usdc/gateway", "the salt of the signed burn intent derives from the challenge, whose id derives from H", NONE),
    facts("mpp/session/evm", "H is the salt of the channel that the signed opening opens", "`deposit`, `authorizedSigner?`, `credentialType?`, `tokenDomain?`"),
    facts("x402/auth-capture/eip155/eip3009", "H, or a commitment to it, is the salt of the signed escrow payment", NONE),
    facts("x402/auth-capture/eip155/permit2", "H, or a commitment to it, is the salt of the signed escrow payment", NONE),
    facts("x402/batch-settlement/eip155", "H is the salt of the channel's configuration, which the signed voucher names", "`payerAuthorizer`, `deposit` (unless the option names one), `authSalt?`"),
    facts("x402/exact/eip155/eip3009", "H is the nonce of the signed transfer", NONE),
    facts("x402/exact/eip155/erc7710", ECHO, NONE),
    facts("x402/exact/eip155/erc7710-salt", "H is the salt of the leaf delegation", NONE),
    facts("x402/exact/eip155/permit2", "H is the nonce of the signed permit", NONE),
    facts("x402/upto/eip155/permit2", "H is the nonce of the signed permit", NONE),
    facts("mpp/charge/tempo/memo", "the transfer's memo is derived from the challenge's id, which derives from H", "`clientId?`"),
    facts("mpp/charge/tempo/push", "the landed transfer's memo is derived from the challenge's id, which derives from H", "`clientId?`"),
    facts("mpp/session/tempo", "H is the salt of the channel that the signed call opens", "`deposit`, `authorizedSigner?`"),
    facts("mpp/subscription/tempo", "H is the witness of the signed key authorization", NONE),
    facts("mpp/charge/solana", SOLANA_MEMO, "what the challenge lacks of `decimals`, `tokenProgram`, `recentBlockhash`; `computeUnitLimit?`, `computeUnitPrice?`"),
    facts("mpp/charge/usdc/solana", SOLANA_MEMO, "what the challenge lacks of `decimals`, `tokenProgram`, `recentBlockhash`; `computeUnitLimit?`, `computeUnitPrice?`"),
    facts("mpp/session/solana", "the salt of the opened channel is the first 8 bytes of H", "`deposit?`"),
    facts("x402/batch-settlement/solana", SOLANA_MEMO, "`payerAuthorizer`, `openSlot`, `tokenProgram`, `deposit` (unless the option names one), `recentBlockhash` (unless it does), `salt?`, and the compute budget"),
    facts("x402/exact/solana", SOLANA_MEMO, "`decimals`, `tokenProgram`, `recentBlockhash` (unless the option has it), and the compute budget"),
    facts("x402/upto/solana", SOLANA_MEMO, "`openSlot`, `tokenProgram`, `recentBlockhash`, `nonce?`, and the compute budget"),
    facts("mpp/charge/stellar", "the id of the muxed recipient is the first 8 bytes of H", "`simulatedXdr`, `currentLedger`"),
    facts("x402/exact/stellar", "the id of the muxed recipient is the first 8 bytes of H; the payment echoes all of it", "`simulatedXdr`, `currentLedger`"),
    facts("mpp/charge/xrpl", "the signed InvoiceID is H", "`fee`, `sequence`, `lastLedgerSequence`"),
    facts("mpp/session/xrpl", "the one memo of the signed PaymentChannelCreate is the LCP string of H", "`deposit`, `xrpl` {publicKey, settleDelay, fee, sequence, lastLedgerSequence, cancelAfter?}"),
    facts("x402/exact/xrpl", "the signed InvoiceID is the SHA-256 of the LCP string of H", "`fee`, `sequence` or `ticketSequence`, `lastLedgerSequence`"),
    facts("mpp/charge/hedera", "the memo of the transaction is derived from the challenge's id, which derives from H", "`node`, `validStart` {seconds, nanos}, `maxFee`, `clientId?`, `credentialType?`"),
    facts("mpp/session/hedera", "H is the salt in the log of the escrow that the opening leaves", "`deposit`"),
    facts("x402/exact/hedera", "the memo of the signed body is the LCP string of H", "`node`, `validStart` {seconds, nanos}, `maxFee`, `decimals?`"),
    facts("x402/exact/hedera/transfer-executor", ECHO, NONE),
    facts("x402/exact/algorand", "the note of the signed transaction is the LCP string of H", "`params` {firstValid, genesisHash, genesisId, minFee, feePerByte}"),
    facts("x402/exact/aptos", ECHO, NONE),
    facts("x402/exact/sui", "one unused input of the signed transaction is H", NONE),
    facts("mpp/charge/nearintents", "the seller's memo is the LCP string of H; the buyer signs nothing here, and the agreement payment is the proof", NONE),
    facts("x402/exact/near", "the memo of the signed transfer call is the LCP string of H", "`publicKey`, `accessKeyNonce`, `finalHeight`"),
    facts("x402/exact/starknet", "the nonce of the signed execution is H modulo 2^250; the payment echoes all of it", NONE),
    facts("x402/exact/polkadot/lcp-assets-remark", "a remark in the signed batch is the LCP string of H", NONE),
    facts("x402/exact/tron/lcp-trc20-memo", "the memo of the signed transaction is the LCP string of H", "`refBlock` {number, id}, `feeLimit`"),
    facts("x402/exact/tvm", "the comment that the signed jetton transfer forwards is the LCP string of H", "`walletId`, `seqno`, `jettonWallet`, `attachNanotons`, `stateInit?`"),
    facts("x402/exact/cardano", "two lines of the signed transaction's metadata are the LCP string of H", NONE),
    facts("x402/exact/casper", "H is the nonce of the signed transfer", NONE),
    facts("x402/exact/ccd", "the memo of the signed transfer is the LCP string of H", NONE),
    facts("mpp/charge/usdc/stacks", "the memo of the signed transfer call is H", NONE),
    facts("mpp/charge/lightning", "the invoice's description hash is H, which the seller writes; the agreement payment is the proof", NONE),
    facts("mpp/session/lightning", "the deposit invoice's description hash is H, which the seller writes; the agreement payment is the proof", "`returnInvoice`"),
    facts("x402/exact/lnbtc", "the invoice's metadata is H, which the seller writes; the agreement payment is the proof", "`request`: the HTTP or MCP request that is paid for"),
    facts("x402/exact/lnbtc/invoice-named", "the ATR names the invoice; the agreement payment is the proof", "`request`: the HTTP or MCP request that is paid for"),
    facts("x402/batch-settlement/cloudflare", ECHO, NONE),
    facts("card/mastercard-vi/autonomous", "the signed chain of mandates holds the hash of the checkout, which names H; its ES256 signatures are verified", NONE),
    facts("card/mastercard-vi/immediate", "the signed mandate holds the hash of the checkout, which names H", NONE),
    facts("card/seller-reference", AGREEMENT, NONE),
    facts("card/visa-tap", "the `lcp-hash` field, which the payer's message signature covers, is H", NONE),
    facts("mpp/charge/card", AGREEMENT, NONE),
    facts("mpp/charge/stripe", AGREEMENT, NONE),
    facts("mpp/subscription/stripe", AGREEMENT, NONE),
    facts("ap2/checkout-mandate", "the signed mandate holds the hash of the checkout, which names H", NONE),
    facts("ucp/booking/ap2-mandate", "the signed mandate discloses the checkout, one link of which names H", NONE),
    facts("ucp/checkout/ap2-mandate", "the signed mandate discloses the checkout, one link of which names H", NONE),
    facts("ack/payment-request", AGREEMENT, NONE),
    facts("acp/checkout/delegated", "the allowance names the checkout session, whose id is H; the agreement payment is the proof", "`max_amount`, `currency`, `merchant_id`, `expires_at`"),
    facts("acp/checkout/undelegated", AGREEMENT, NONE),
    facts("ucp/booking/unsigned", AGREEMENT, NONE),
    facts("ucp/checkout/unsigned", AGREEMENT, NONE),
];

const INTRODUCTION: &str = "\
# The pairings, one by one

Written by `cargo run -p conformance -- pairings` from the registry and the recorded rows; a test holds it to both, and the rows it names
are replayed by the tests. For each pairing: what is proved, what of the buyer's own the build needs as `inputs`, and one payment from the
seller's document to what is sent. Long texts are cut in the middle here; the row has them whole. \"LCP string\" is `lcp:sha256:` and the
hash.

Each example's hash is of the record that the row serves. Where a request is shown as `null`, there is nothing for the buyer to sign.

";

/// The guide over the recorded rows below `vectors`.
///
/// # Errors
///
/// A row file cannot be read.
pub fn written(vectors: &Path) -> io::Result<String> {
    let mut examples: BTreeMap<String, Example> = BTreeMap::new();
    for file in row::files(vectors)? {
        if file.to_string_lossy().contains("-mutants") {
            continue;
        }
        for line in row::text(&file)?.lines() {
            let row = Row::read(line).map_err(io::Error::other)?;
            let is_whole = row.expect().get("decline").is_none() && row.has_plain_arguments() && row.skipped().is_none();
            if is_whole && row.pairing() == row.pairing_argument() && ["confirm", "finish"].contains(&row.op()) {
                examples.entry(row.pairing().to_owned()).or_default().offer(row);
            }
        }
    }
    let mut guide = INTRODUCTION.to_owned();
    for entry in &PAIRINGS {
        section(&mut guide, entry.id, examples.get(entry.id));
    }
    Ok(guide)
}

/// A confirm and the finish that follows it, of the most basic flow there is.
#[derive(Default)]
struct Example {
    confirm: Option<Row>,
    finish: Option<Row>,
}

impl Example {
    fn offer(&mut self, row: Row) {
        let flow = |row: &Row| row.get("flow").and_then(Value::as_str).map(str::to_owned);
        // The flow that others vary is called basic; next best is any flow.
        let rank = |row: &Row| (!row.id().contains(":basic"), flow(row).is_none());
        if row.op() == "confirm" {
            if self.confirm.as_ref().is_none_or(|held| rank(&row) < rank(held)) {
                self.confirm = Some(row);
            }
        } else if row.expect().get("signed").is_some() {
            let wanted = self.confirm.as_ref().and_then(flow);
            let rank = |row: &Row| (flow(row) != wanted, rank(row));
            if self.finish.as_ref().is_none_or(|held| rank(&row) < rank(held)) {
                self.finish = Some(row);
            }
        }
    }
}

fn section(guide: &mut String, id: &str, example: Option<&Example>) {
    let known = FACTS.iter().find(|facts| facts.id == id);
    let (proves, inputs) = known.map_or(("", ""), |facts| (facts.proves, facts.inputs));
    // Writing to a string does not fail.
    let _ = writeln!(guide, "## `{id}`\n\n**Proof:** {proves}.\n\n**Inputs:** {inputs}.\n");
    let Some(example) = example else { return };
    if let Some(confirm) = &example.confirm {
        let _ = writeln!(guide, "Row `{}`, account `{}`:\n", confirm.id(), confirm.argument("account").and_then(Value::as_str).unwrap_or_default());
        block(guide, "document", confirm.argument("document"));
        block(guide, "inputs", confirm.argument("inputs"));
        block(guide, "request", confirm.expect().get("request"));
    }
    if let Some(finish) = &example.finish {
        let _ = writeln!(guide, "Row `{}`:\n", finish.id());
        block(guide, "the wallet's answer", finish.argument("signature"));
        block(guide, "signed", finish.expect().get("signed"));
        block(guide, "landed", finish.expect().get("landed"));
    }
}

fn block(guide: &mut String, name: &str, value: Option<&Value>) {
    if let Some(value) = value {
        let _ = writeln!(guide, "{name}\n\n```json\n{}\n```\n", pretty(&shortened(value), 0));
    }
}

/// The value with texts of more than 100 characters cut in the middle.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.as_str().map(|text| text.chars().collect::<Vec<_>>()) {
            Some(chars) if chars.len() > 100 => {
                let part = |chars: &[char]| chars.iter().collect::<String>();
                format!("{}…{}", part(&chars[..60]), part(&chars[chars.len() - 20..])).into()
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(shortened).collect::<Vec<_>>().into(),
        Value::Object(object) => object.iter().fold(Object::new(), |kept, (name, value)| kept.with(name.clone(), shortened(value))).into(),
        other => other.clone(),
    }
}

/// JSON with one member a line, where it does not fit one.
fn pretty(value: &Value, indent: usize) -> String {
    let line = json::write(value);
    if line.len() + indent <= 130 {
        return line;
    }
    let inner = " ".repeat(indent + 2);
    let outer = " ".repeat(indent);
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| format!("{inner}{}", pretty(item, indent + 2))).collect();
            format!("[\n{}\n{outer}]", items.join(",\n"))
        }
        Value::Object(object) => {
            let members: Vec<_> = object
                .iter()
                .map(|(name, value)| format!("{inner}{}: {}", json::write(&Value::from(name.clone())), pretty(value, indent + 2)))
                .collect();
            format!("{{\n{}\n{outer}}}", members.join(",\n"))
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_facts_of_every_pairing() {
        let known: HashSet<_> = FACTS.iter().map(|facts| facts.id).collect();
        assert_eq!(known, PAIRINGS.iter().map(|entry| entry.id).collect());
    }

    #[test]
    fn the_guide_says_what_the_rows_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let guide = std::fs::read_to_string(root.join("docs/pairings.md")).unwrap();
        assert!(guide == written(&root.join("vectors")).unwrap(), "run `cargo run -p conformance -- pairings`");
        for entry in &PAIRINGS {
            let section = guide.split("## `").find(|section| section.starts_with(&format!("{}`", entry.id))).unwrap();
            assert!(section.contains("Row `") && section.contains("document\n"), "{} has no example", entry.id);
        }
    }
}
