//! `x402/batch-settlement/eip155`: a deposit opens a channel whose configuration has H as its salt; vouchers then pay
//! inside it.

use crate::{
    Declined, Hash, Object, Refusal, Value,
    account::Account,
    encoding::{self, is_decimal, plain_decimal, uint128},
    inputs::{self, MAX_DECIMAL},
    pairing::{Buyer, Channel, ChannelAct, ChannelRef, Choice, Unsigned, Within, WithinAsk, WithinBuild},
    wire::evm::{self, Domain, Type, U256, Word, address_word, eip3009, permit2::Permit, uint_word},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        channel::{CHANNEL_ID_MISMATCH, CHANNEL_KIND_UNKNOWN, NOT_AN_OPENING, Next, unreadable},
        document::{CHOICE_MALFORMED, INPUT_MISSING, OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        eip155::{Payer, Places, chain_id, signature, token_domain},
        option::{absent_or, amount, extra, filled, names, timeout},
        permit2,
    },
};

pub(crate) static PAIRING: X402<Batch> = X402(Batch);

pub(crate) struct Batch;

const DEPOSIT_AUTHORIZATION: Refusal = Refusal::new("x402/deposit-authorization");

const EIP3009_COLLECTOR: &str = "0x4020806089470a89826cB9fB1f4059150b550004";
const PERMIT2_COLLECTOR: &str = "0x4020425FAf3B746C082C2f942b4E5159887B0005";

const CHANNEL_CONFIG: Type<'static> = (
    "ChannelConfig",
    &[
        ("payer", "address"),
        ("payerAuthorizer", "address"),
        ("receiver", "address"),
        ("receiverAuthorizer", "address"),
        ("token", "address"),
        ("withdrawDelay", "uint40"),
        ("salt", "bytes32"),
    ],
);
const VOUCHER: Type<'static> = ("Voucher", &[("channelId", "bytes32"), ("maxClaimableAmount", "uint128")]);
const DEPOSIT_WITNESS: Type<'static> = ("DepositWitness", &[("channelId", "bytes32")]);

/// The settlement contract's domain.
fn domain(chain_id: u64) -> Domain<'static> {
    Domain { name: "x402 Batch Settlement", version: "1", chain_id, contract: "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003" }
}

impl Scheme for Batch {
    fn id(&self) -> &'static str {
        "x402/batch-settlement/eip155"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let extra = extra(option).ok_or(Unserved::Other)?;
        let places = Places::of(option).ok_or(Unserved::Other)?;
        let ours = names(option, "scheme", "batch-settlement")
            && set_address(extra, "receiverAuthorizer").is_some()
            && withdraw_delay(extra).is_some()
            && filled(extra, "name").is_some()
            && filled(extra, "version").is_some()
            && absent_or(extra, "assetTransferMethod", &["eip3009", "permit2"])
            && absent_or(extra, "paymentFlow", &["authorization"]);
        if !ours {
            return Err(Unserved::Other);
        }
        let payable = amount(option).is_some_and(|amount| amount == "0" || evm::is_amount(amount) && uint128(amount).is_some())
            && timeout(option).is_some()
            && ![places.asset, places.pay_to].contains(&evm::ZERO_ADDRESS);
        if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
    }

    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(account, buyer)?;
        let text = |name, is_form: fn(&str) -> bool| {
            inputs::member(buyer.inputs, name, |value| value.as_str().filter(|text| is_form(text))).map_err(|_| INPUT_MISSING)
        };
        let authorizer = text("payerAuthorizer", evm::is_address)?.ok_or(INPUT_MISSING)?;
        let salt = text("authSalt", |text| Hash::parse(text).is_some())?;
        let deposit = match extra(order.option()?).and_then(|extra| extra.get("minDeposit")) {
            Some(least) => least.as_str().filter(|text| is_decimal(text, MAX_DECIMAL)).ok_or(OPTION_MALFORMED)?,
            None => inputs::decimal(buyer.inputs, "deposit").ok().flatten().ok_or(INPUT_MISSING)?,
        };
        let salt = salt.map_or_else(
            || {
                let mut drawn = [0; 32];
                (buyer.random)(&mut drawn);
                encoding::hex(&drawn)
            },
            str::to_owned,
        );
        Ok(payer.with("payerAuthorizer", authorizer).with("deposit", plain_decimal(deposit)).with("authSalt", salt))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        let deposit = match choice.get("deposit") {
            None => None,
            Some(value) => Some(value.as_str().filter(|text| is_decimal(text, MAX_DECIMAL)).ok_or(CHOICE_MALFORMED)?),
        };
        let payer = Payer::of(choice)?;
        let authorizer = evm::address(choice, "payerAuthorizer").ok_or(OPTION_MALFORMED)?;
        let (auth_salt, auth_salt_bytes) = bytes32(choice, "authSalt").ok_or(OPTION_MALFORMED)?;
        let deposit = deposit.and_then(uint128).filter(|&deposit| deposit > 0).ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, choice)?;
        let option = order.option()?;
        let places = Places::served(option)?;
        let price = amount(option).and_then(uint128).filter(|&price| price > 0).ok_or(OPTION_MALFORMED)?;
        let valid_before = payer.deadline(option)?;
        let terms = extra(option).ok_or(OPTION_MALFORMED)?;
        let config = Object::new()
            .with("payer", payer.from)
            .with("payerAuthorizer", authorizer)
            .with("receiver", places.pay_to)
            .with_some("receiverAuthorizer", terms.get("receiverAuthorizer"))
            .with("token", places.asset)
            .with_some("withdrawDelay", terms.get("withdrawDelay"))
            .with("salt", &**chosen.h);
        let id = Config::read(&config, places.chain_id).ok_or(OPTION_MALFORMED)?.id;
        let deposit = if names(terms, "assetTransferMethod", "permit2") {
            let permit = Permit {
                token: places.asset,
                amount: deposit.to_string(),
                spender: PERMIT2_COLLECTOR,
                nonce: U256::from(auth_salt_bytes),
                deadline: valid_before,
            };
            let witness = Object::new().with("channelId", encoding::hex(&id));
            Deposit {
                request: permit.request(places.chain_id, Some((DEPOSIT_WITNESS, witness.clone()))),
                authorization: permit2::authorization(&permit, payer.from, &permit.nonce.to_string()).with("witness", witness),
                name: "permit2Authorization",
                amount: permit.amount,
            }
        } else {
            let transfer = eip3009::Authorization {
                from: payer.from,
                to: EIP3009_COLLECTOR,
                value: deposit.to_string(),
                valid_before,
                nonce: evm::keccak([id, auth_salt_bytes].as_flattened()),
            };
            let authorization = Object::new().with("validAfter", "0").with("validBefore", valid_before.to_string()).with("salt", auth_salt);
            Deposit {
                request: transfer.request(eip3009::RECEIVE, token_domain(option)?),
                authorization,
                name: "erc3009Authorization",
                amount: transfer.value,
            }
        };
        let voucher = Voucher { chain_id: places.chain_id, id, max_claimable: price };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Opening { config, deposit, voucher })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        if !names(payload, "type", "deposit") {
            return Err(NOT_AN_OPENING);
        }
        let config = Config::of(payment)?;
        let deposit = payload.get("deposit").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        amount(deposit).and_then(uint128).filter(|&deposit| deposit > 0).ok_or(PAYLOAD_MALFORMED)?;
        let authorization = |name| deposit.get("authorization").and_then(|authorization| authorization.get(name));
        let uint256 = |value: &Value, name| value.get(name).and_then(Value::as_str).and_then(U256::from_decimal);
        let well_formed = match (authorization("erc3009Authorization"), authorization("permit2Authorization")) {
            (Some(transfer), None) => {
                uint256(transfer, "validBefore").is_some() && transfer.as_object().is_some_and(|transfer| bytes32(transfer, "salt").is_some())
            }
            (None, Some(permit)) => uint256(permit, "deadline").is_some(),
            _ => return Err(DEPOSIT_AUTHORIZATION),
        };
        if !well_formed {
            return Err(PAYLOAD_MALFORMED);
        }
        config.judge_voucher(payload)?;
        Ok(config.salt)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }
}

impl Channel for Batch {
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal> {
        let payload = Payment::read(self, payment)?.payload()?;
        match (payload.get("type").and_then(Value::as_str), payload.get("amount")) {
            (Some("deposit"), _) => Ok(ChannelAct::Open),
            (Some("voucher"), _) => Ok(ChannelAct::Within),
            (Some("refund"), None) => Ok(ChannelAct::Close),
            (Some("refund"), Some(_)) if refunded(payload).is_some() => Ok(ChannelAct::Within),
            _ => Err(CHANNEL_KIND_UNKNOWN),
        }
    }

    fn reference(&self, payment: &Value, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let payment = Payment::read(self, payment)?;
        let config = Config::of(&payment)?;
        config.judge_voucher(payment.payload()?)?;
        let network = payment.accepted.get("network").and_then(Value::as_str).ok_or(PAYLOAD_MALFORMED)?;
        Ok(ChannelRef { network: network.to_owned(), channel: encoding::hex(&config.id) })
    }

    fn within(&self) -> Option<&dyn Within> {
        Some(self)
    }
}

impl Within for Batch {
    fn build(&self, ask: &WithinAsk<'_>) -> Result<WithinBuild, Declined> {
        let next = Next::of(&PAIRING, ask)?;
        let payload = Inside::of(&next).map_err(|refusal| unreadable(&refusal))?;
        next.payment(self, payload)
    }

    fn bound(&self, payment: &Value) -> Result<Hash, Refusal> {
        let payment = Payment::read(self, payment)?;
        let config = Config::of(&payment)?;
        config.judge_voucher(payment.payload()?)?;
        Ok(config.salt)
    }
}

/// A channel's configuration, which names it.
struct Config {
    /// The EIP-712 digest of the configuration.
    id: Word,
    /// H.
    salt: Hash,
}

impl Config {
    /// The configuration in a payment's payload.
    fn of(payment: &Payment<'_>) -> Result<Self, Refusal> {
        let config = payment.payload()?.get("channelConfig").and_then(Value::as_object);
        config.zip(chain_id(payment.accepted)).and_then(|(config, chain)| Self::read(config, chain)).ok_or(PAYLOAD_MALFORMED)
    }

    fn read(config: &Object, chain_id: u64) -> Option<Self> {
        let word = |text: &str| address_word(text);
        let (_, salt) = bytes32(config, "salt")?;
        let members = [
            word(set_address(config, "payer")?)?,
            word(evm::address(config, "payerAuthorizer")?)?,
            word(set_address(config, "receiver")?)?,
            word(set_address(config, "receiverAuthorizer")?)?,
            word(set_address(config, "token")?)?,
            uint_word(withdraw_delay(config)?.into()),
            salt,
        ];
        let id = evm::typed_data_digest(&domain(chain_id).separator()?, &evm::struct_hash(CHANNEL_CONFIG, &members));
        Some(Self { id, salt: salt.into() })
    }

    /// Whether the payload's voucher names this channel.
    fn judge_voucher(&self, payload: &Object) -> Result<(), Refusal> {
        let named = payload.get("voucher").and_then(|voucher| voucher.get("channelId")).and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?;
        let matches = named.as_str().and_then(Hash::parse).is_some_and(|named| *named.bytes() == self.id);
        if matches { Ok(()) } else { Err(CHANNEL_ID_MISMATCH) }
    }
}

/// What the seller may claim in all.
struct Voucher {
    chain_id: u64,
    id: Word,
    max_claimable: u128,
}

impl Voucher {
    fn members(&self) -> Object {
        Object::new().with("channelId", encoding::hex(&self.id)).with("maxClaimableAmount", self.max_claimable.to_string())
    }

    fn request(&self) -> Value {
        evm::typed_data_request(domain(self.chain_id).members(), &[evm::DOMAIN, VOUCHER], self.members())
    }

    fn signed(&self, answer: &Value) -> Result<Object, Refusal> {
        Ok(self.members().with("signature", signature(Some(answer), 1)?))
    }
}

/// A deposit that waits for its signature.
struct Deposit {
    request: Value,
    name: &'static str,
    authorization: Object,
    amount: String,
}

/// The opening: a deposit and the first voucher.
struct Opening {
    config: Object,
    deposit: Deposit,
    voucher: Voucher,
}

impl Payload for Opening {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(batch([self.deposit.request.clone(), self.voucher.request()]))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let Some([deposit, voucher]) = answer.as_array() else { return Err(SIGNATURE_MALFORMED) };
        let authorization = self.deposit.authorization.clone().with("signature", signature(Some(deposit), 1)?);
        Ok(Object::new().with("type", "deposit").with("channelConfig", self.config.clone()).with("voucher", self.voucher.signed(voucher)?).with(
            "deposit",
            Object::new().with("amount", self.deposit.amount.as_str()).with("authorization", Object::new().with(self.deposit.name, authorization)),
        ))
    }
}

/// A payment inside the channel, or a refund of all (no amount) or a part of what is not charged.
struct Inside {
    config: Object,
    voucher: Voucher,
    kind: &'static str,
    amount: Option<String>,
}

impl Inside {
    fn of(next: &Next<'_>) -> Result<Self, Refusal> {
        let chain_id = chain_id(next.order().option()?).ok_or(OPTION_MALFORMED)?;
        let config = next.config().ok_or(OPTION_MALFORMED)?;
        let id = Config::read(config, chain_id).ok_or(OPTION_MALFORMED)?.id;
        let amount = match next.refund() {
            Some(refund) if refund.has("amount") => Some(refunded(refund).ok_or(OPTION_MALFORMED)?.to_string()),
            _ => None,
        };
        Ok(Self {
            config: config.clone(),
            voucher: Voucher { chain_id, id, max_claimable: next.max_claimable.ok_or(OPTION_MALFORMED)? },
            kind: if next.refund().is_some() { "refund" } else { "voucher" },
            amount,
        })
    }
}

impl Payload for Inside {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(batch([self.voucher.request()]))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let Some([voucher]) = answer.as_array() else { return Err(SIGNATURE_MALFORMED) };
        Ok(Object::new()
            .with("type", self.kind)
            .with("channelConfig", self.config.clone())
            .with("voucher", self.voucher.signed(voucher)?)
            .with_some("amount", self.amount.as_deref()))
    }
}

fn batch<const N: usize>(requests: [Value; N]) -> Value {
    Object::new().with("kind", "batch").with("requests", requests).into()
}

/// An address member that is not the zero address.
fn set_address<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    evm::address(object, name).filter(|&address| address != evm::ZERO_ADDRESS)
}

/// How long the payer waits for a withdrawal the receiver does not sign, in seconds: 15 minutes to 30 days.
fn withdraw_delay(object: &Object) -> Option<u64> {
    object.get("withdrawDelay").and_then(Value::as_safe_unsigned).filter(|delay| (900..=2_592_000).contains(delay))
}

/// A member of 32 bytes in `0x` hex, and the bytes.
fn bytes32<'a>(object: &'a Object, name: &str) -> Option<(&'a str, Word)> {
    let text = object.get(name).and_then(Value::as_str)?;
    Hash::parse(text).map(|bytes| (text, *bytes.bytes()))
}

/// The `amount` of a partial refund.
fn refunded(object: &Object) -> Option<u128> {
    amount(object).and_then(uint128).filter(|&amount| amount > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfirmedHash, DeclineCode, Pairing, json, pairing::Completed};

    const ATR: &[u8] = b"terms";

    fn document(price: &str) -> Value {
        let h = Hash::of(ATR);
        let text = format!(
            r#"{{"x402Version":2,"accepts":[{{"scheme":"batch-settlement","network":"eip155:84532","amount":"{price}",
            "asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
            "extra":{{"name":"USDC","version":"2","withdrawDelay":900,"receiverAuthorizer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"}}}}],
            "extensions":{{"legalContext":{{"info":{{"type":"sha256","value":"{h}","legalContextUrl":"https://a.example/"}}}}}}}}"#
        );
        json::parse(&text, json::MAX_DEPTH).unwrap()
    }

    fn opening() -> Value {
        let inputs = Object::new().with("payerAuthorizer", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8").with("deposit", "0100");
        let buyer =
            Buyer { account: "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", inputs: &inputs, now: 1, random: &|bytes| bytes.fill(7) };
        let choice = PAIRING.choose(&PAIRING.read(&document("10")).unwrap(), &buyer).unwrap();
        assert_eq!(choice.get("deposit"), Some(&"100".into()));
        assert_eq!(choice.get("authSalt"), Some(&encoding::hex(&[7; 32]).into()));
        let h = ConfirmedHash::rehash(ATR);
        let unsigned = PAIRING.build(&Choice { choice: &choice, reference: &Value::Null, h: &h, atr: ATR }).unwrap();
        signed(unsigned.as_ref(), 2)
    }

    fn signed(unsigned: &dyn Unsigned, signatures: usize) -> Value {
        match unsigned.complete(&vec![Value::from("0xab"); signatures].into()) {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{other:?}"),
        }
    }

    fn within(held: &ChannelRef, charged: &str, refund: Option<&Object>) -> Result<WithinBuild, Declined> {
        Within::build(
            &Batch,
            &WithinAsk {
                document: &document("5"),
                h: &ConfirmedHash::rehash(ATR),
                held,
                opening: &opening(),
                landed: None,
                charged,
                refund,
                inputs: &Object::new(),
                reference: &Value::Null,
            },
        )
    }

    fn held() -> ChannelRef {
        Batch.reference(&opening(), None).unwrap()
    }

    #[test]
    fn channel_config_has_the_contracts_type_hash() {
        let hash = encoding::hex(&evm::type_hash(CHANNEL_CONFIG));
        assert_eq!(hash, "0x1c9a06ceab9b0ebbd3301dc56c9111bb6d9af421356dc9ccb3b7084c755db308");
    }

    #[test]
    fn an_opening_carries_h_and_names_its_channel() {
        let opening = opening();
        assert_eq!(PAIRING.bound(&opening, None), Ok(Hash::of(ATR)));
        assert_eq!(Batch.kind(&opening), Ok(ChannelAct::Open));
        let voucher = opening.get("payload").unwrap().get("voucher").unwrap();
        assert_eq!(voucher.get("channelId"), Some(&held().channel.into()));
        assert_eq!(voucher.get("maxClaimableAmount"), Some(&"10".into()));
    }

    #[test]
    fn a_voucher_a_part_refund_and_a_full_one() {
        let part = Object::new().with("amount", "03");
        let all = Object::new();
        for (refund, signed_for, act, amount) in
            [(None, "12", ChannelAct::Within, None), (Some(&part), "7", ChannelAct::Within, Some("3")), (Some(&all), "7", ChannelAct::Close, None)]
        {
            let build = within(&held(), "7", refund).unwrap();
            assert_eq!((build.signed_for.as_str(), build.act), (signed_for, act));
            let payment = signed(build.unsigned.as_ref(), 1);
            assert_eq!(Batch.kind(&payment), Ok(act));
            assert_eq!(Batch.reference(&payment, None), Ok(held()));
            assert_eq!(Within::bound(&Batch, &payment), Ok(Hash::of(ATR)));
            let payload = payment.get("payload").unwrap();
            assert_eq!(payload.get("amount").and_then(Value::as_str), amount);
            assert_eq!(payload.get("voucher").unwrap().get("maxClaimableAmount"), Some(&signed_for.into()));
        }
    }

    #[test]
    fn declines_before_anything_is_signed() {
        let declined = |held: &ChannelRef, charged: &str, refund: Option<&Object>| within(held, charged, refund).err().map(|d| (d.code, d.detail));
        let malformed = Some((DeclineCode::OfferUnreadable, "x402/option-malformed".to_owned()));
        assert_eq!(declined(&held(), &(u128::MAX - 4).to_string(), None), malformed);
        assert_eq!(declined(&held(), "0", Some(&Object::new().with("amount", "0"))), malformed);
        let other_channel = ChannelRef { channel: encoding::hex(&[0; 32]), ..held() };
        assert_eq!(declined(&other_channel, "0", None).unwrap().0, DeclineCode::NoPayableOption);
        let other_network = ChannelRef { network: "eip155:1".to_owned(), ..held() };
        assert_eq!(declined(&other_network, "0", None), Some((DeclineCode::NoPayableOption, "x402/no-payable-option".to_owned())));
    }

    #[test]
    fn a_refund_of_no_amount_is_no_known_kind() {
        let mut payment = opening().as_object().unwrap().clone();
        let payload = payment.get("payload").unwrap().as_object().unwrap().clone().with("type", "refund").with("amount", "0");
        payment.set("payload", payload);
        assert_eq!(Batch.kind(&payment.into()), Err(CHANNEL_KIND_UNKNOWN));
    }
}
