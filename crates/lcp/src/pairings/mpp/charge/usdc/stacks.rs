//! `mpp/charge/usdc/stacks`: H is the memo of the token's transfer (SIP-010) on Stacks.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    mpp::{
        INPUT_MALFORMED, Method, Mpp, NO_PAYABLE_OPTION, NOT_THIS_PAIRING, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Waiting},
        evm::judge_type,
        judge_choice,
        usdc::{Charge, Profile, Stacks as Contract},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::stacks::{TX_MALFORMED, Transaction, is_address, some_buffer},
};

pub(crate) static PAIRING: Mpp<Stacks> = Mpp(Stacks);

pub(crate) struct Stacks;

const CHAIN_MISMATCH: Refusal = Refusal::new("stacks/chain-mismatch");
const MEMO_NOT_H: Refusal = Refusal::new("mpp/stacks-memo-not-h");

/// The chain of the main network; a transaction for any other is marked as of a test network.
const MAINNET: u32 = 1;

const FORMAT: &str = "stacks_transaction_v1";

fn charged<'a>(offer: &'a Offer<'_>) -> Result<(Charge<'a>, Contract<'a>), Refusal> {
    let charge = Charge::of(offer)?;
    match charge.profile {
        Profile::Stacks(contract) => Ok((charge, contract)),
        _ => Err(NOT_THIS_PAIRING),
    }
}

impl Method for Stacks {
    fn id(&self) -> &'static str {
        "mpp/charge/usdc/stacks"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        charged(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        charged(offer).ok().map(|(_, contract)| network(contract.chain_id))
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Account::parse(buyer.account).map(|account| account.address).filter(|address| is_address(address));
        Ok(Object::new().with("from", payer.ok_or(NO_PAYABLE_OPTION)?))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_choice(chosen.choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let payer = chosen.choice.get("from").and_then(Value::as_str).filter(|from| is_address(from)).ok_or(INPUT_MALFORMED)?;
        let (charge, contract) = charged(&offer)?;
        let arguments =
            Object::new().with("amount", charge.amount).with("sender", payer).with("recipient", charge.recipient.clone()).with("memo", &offer.h);
        let request = Object::new()
            .with("kind", "stacks-contract-call")
            .with("chainId", contract.chain_id)
            .with("contract", format!("{}.{}", contract.address, contract.name))
            .with("functionName", "transfer")
            .with("args", arguments)
            .with("postCondition", "SentEq")
            .with("postConditionMode", "deny")
            .with("anchorMode", "onChainOnly");
        let chain_id = contract.chain_id;
        let payload = move |answer: &Value| {
            let wire = answer.as_str().and_then(encoding::from_hex).ok_or(CREDENTIAL_MALFORMED)?;
            read(&wire, chain_id)?;
            Ok(payload(&wire))
        };
        let source = format!("{}:{payer}", network(chain_id));
        Ok(Box::new(Waiting::new(&offer.challenge, Some(source), OneStep { request: request.into(), payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        judge_type(credential.payload, "transaction")?;
        if credential.payload.get("transactionFormat").is_some_and(|format| format.as_str() != Some(FORMAT)) {
            return Err(TX_MALFORMED);
        }
        let wire = credential.payload.get("transaction").and_then(Value::as_str).and_then(encoding::from_base64).ok_or(TX_MALFORMED)?;
        let (_, contract) = charged(offer)?;
        let call = read(&wire, contract.chain_id)?.call.filter(|call| call.function == "transfer");
        let memo = some_buffer(offer.h.bytes());
        // The memo is the fourth argument; more may follow.
        if memo.is_some() && call.as_ref().and_then(|call| call.arguments.get(3)).copied() == memo.as_deref() { Ok(offer.h) } else { Err(MEMO_NOT_H) }
    }
}

fn network(chain_id: u32) -> String {
    format!("stacks:{chain_id}")
}

/// Reads a transaction, which must be for the chain.
fn read(wire: &[u8], chain_id: u32) -> Result<Transaction<'_>, Refusal> {
    let transaction = Transaction::decode(wire)?;
    let is_for = transaction.chain_id == chain_id && transaction.mainnet == (chain_id == MAINNET);
    if is_for { Ok(transaction) } else { Err(CHAIN_MISMATCH) }
}

fn payload(wire: &[u8]) -> Object {
    Object::new().with("type", "transaction").with("transaction", encoding::base64(wire)).with("transactionFormat", FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, json,
        mpp::sample::{ATR, build, challenge, h, paid, request, with_payload},
        peers,
    };

    const PAYER: &str = "ST1WV0048ERKB55592H81MK6J4TTRP8TSGE8VSTHJ";

    fn charge(chain_id: &str) -> Object {
        charge_to("any", chain_id)
    }

    fn charge_to(recipient: &str, chain_id: &str) -> Object {
        let contract = Object::new().with("chainId", chain_id).with("contractAddress", PAYER).with("contractName", "usdcx");
        let details = Object::new().with("type", "stacks").with("stacks", contract);
        challenge(&h(), "charge", "usdc", Object::new().with("amount", "1000000").with("recipient", recipient).with("methodDetails", details))
    }

    fn choose(challenge: Object, account: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[challenge.into()].into())?, &buyer)
    }

    fn chosen(chain_id: &str) -> Object {
        choose(charge(chain_id), &format!("stacks:{chain_id}:{PAYER}")).unwrap()
    }

    /// A transfer as @stacks/transactions writes it, with H of other terms replaced by that of these.
    fn transfer(network: &str) -> Vec<u8> {
        let rows = json::lines(include_str!("../../../../../tests/peers/stacks/transactions.jsonl"));
        let row = rows.iter().find(|row| row.get("network") == Some(&network.into())).unwrap();
        let other = row.get("h").unwrap().as_str().unwrap();
        let digits = row.get("transaction").unwrap().as_str().unwrap().replace(&other[2..], &h().to_string()[2..]);
        encoding::from_hex(&format!("0x{digits}")).unwrap()
    }

    #[test]
    fn the_memo_is_h() {
        for (chain_id, network) in [("2147483648", "testnet"), ("1", "mainnet")] {
            let unsigned = build(&PAIRING, &chosen(chain_id)).unwrap();
            let arguments = request(&*unsigned).get("args").unwrap().clone();
            assert_eq!((arguments.get("sender"), arguments.get("memo")), (Some(&PAYER.into()), Some(&(&h()).into())));
            let payment = paid(&*unsigned, &encoding::hex(&transfer(network)).into()).unwrap();
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            assert_eq!(payment.get("source"), Some(&format!("stacks:{chain_id}:{PAYER}").into()));
            assert_eq!(Hash::of(ATR), h());
            for (name, value, code) in [
                ("type", "hash", "mpp/credential-type"),
                ("transactionFormat", "v2", "mpp/stacks-tx-malformed"),
                ("transaction", "AA==", "mpp/stacks-tx-malformed"),
            ] {
                assert_eq!(PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err().code(), code);
            }
            let mut other = transfer(network);
            *other.last_mut().unwrap() ^= 1;
            let other = with_payload(&payment, "transaction", encoding::base64(&other));
            assert_eq!(PAIRING.bound(&other, None), Err(MEMO_NOT_H));
        }
    }

    #[test]
    fn the_transaction_is_for_the_chain() {
        let answer = encoding::hex(&transfer("mainnet")).into();
        for chain_id in ["2147483648", "0"] {
            assert_eq!(paid(&*build(&PAIRING, &chosen(chain_id)).unwrap(), &answer).unwrap_err(), CHAIN_MISMATCH);
        }
        let unsigned = build(&PAIRING, &chosen("1")).unwrap();
        assert_eq!(paid(&*unsigned, &"x".into()).unwrap_err(), CREDENTIAL_MALFORMED);
        assert_eq!(paid(&*unsigned, &"0x".into()).unwrap_err(), TX_MALFORMED);
    }

    #[test]
    fn a_payer_has_an_address_on_the_chain() {
        for account in ["stacks:1:st", "stacks:2147483648:ST1WV0048ERKB55592H81MK6J4TTRP8TSGE8VSTHJ", "x"] {
            assert_eq!(choose(charge("1"), account).unwrap_err(), NO_PAYABLE_OPTION, "{account}");
        }
        assert_eq!(build(&PAIRING, &chosen("1").without("from")).err(), Some(INPUT_MALFORMED));
    }

    /// @stacks/transactions makes the call that our request asks for, and reads in our payload, by the payer's signature, the
    /// same call.
    #[test]
    fn the_library_pays_and_reads() {
        let networks = [
            ("2147483648", PAYER, "ST3NW1VGB5AWYG9VTC062A53NW8N34GD1R487DK2N"),
            ("1", "SP1WV0048ERKB55592H81MK6J4TTRP8TSGC4JX54N", "SP3NW1VGB5AWYG9VTC062A53NW8N34GD1R7QANGAJ"),
        ];
        let chosen = networks.map(|(chain_id, payer, to)| choose(charge_to(to, chain_id), &format!("stacks:{chain_id}:{payer}")).unwrap());
        let unsigned: Vec<_> = chosen.iter().map(|choice| build(&PAIRING, choice).unwrap()).collect();
        for ((chain_id, payer, to), (payment, read)) in networks.into_iter().zip(peers::paid("stacks", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let members = Object::new()
                .with("sender", payer)
                .with("chainId", chain_id.parse::<u32>().unwrap())
                .with("contract", format!("{PAYER}.usdcx"))
                .with("functionName", "transfer")
                .with("amount", "1000000")
                .with("from", payer)
                .with("to", to)
                .with("memo", &h())
                .with("anchorMode", 1u32)
                .with("postConditionMode", 2u32)
                .with("condition", format!("{payer} eq 1000000 {PAYER}.usdcx::usdcx-token"));
            for (name, value) in members.iter() {
                assert_eq!(Some(value), read.get(name.as_str().unwrap()), "{name:?}");
            }
        }
    }
}
