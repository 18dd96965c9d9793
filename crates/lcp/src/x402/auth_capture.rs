//! Scheme `auth-capture`: the money goes to an escrow under the option's terms, and is captured later.
//!
//! The escrow names a payment by the hash of its terms, a salt among them, and the authorization's nonce is that hash. H
//! is the salt, or where the terms name a receiver authorizer or a policy, what the salt commits to beside them.

use super::{
    Unserved,
    document::{OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment},
    eip155::{Places, signature},
    option::{absent_or, amount, extra, filled, names, short, timeout},
};
use crate::{
    Hash, Object, Refusal, Value,
    encoding::{self, uint128},
    wire::evm::{self, Type, Word, address_word, uint_word},
};

const ESCROW_NOT_CANONICAL: Refusal = Refusal::new("x402/escrow-not-canonical");
const FLOW_NOT_CARRIED: Refusal = Refusal::new("x402/flow-not-carried");
const SALT_MALFORMED: Refusal = Refusal::new("x402/salt-malformed");
const SALT_NOT_BOUND: Refusal = Refusal::new("x402/salt-not-bound");
const NONCE_NOT_PAYMENT: Refusal = Refusal::new("x402/nonce-not-payment");

/// The contracts of one release of the escrow.
pub(crate) struct Deployment {
    escrow: &'static str,
    /// Collects by EIP-3009.
    pub(crate) eip3009_collector: &'static str,
    /// Collects by Permit2.
    pub(crate) permit2_collector: &'static str,
}

static VERSION_1_1: Deployment = Deployment {
    escrow: "0xf96815976523E00e65Be8f34cA5e64b4f41EB19c",
    eip3009_collector: "0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88",
    permit2_collector: "0xD69831Aed5bfe262067ec4c751f4F830EcdD446e",
};

static VERSION_1_0: Deployment = Deployment {
    escrow: "0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff",
    eip3009_collector: "0x0E3dF9510de65469C4518D7843919c0b8C7A7757",
    permit2_collector: "0x992476B9Ee81d52a5BdA0622C333938D0Af0aB26",
};

/// The escrow's payment, as it hashes it.
const PAYMENT_INFO: Type<'static> = (
    "PaymentInfo",
    &[
        ("operator", "address"),
        ("payer", "address"),
        ("receiver", "address"),
        ("token", "address"),
        ("maxAmount", "uint120"),
        ("preApprovalExpiry", "uint48"),
        ("authorizationExpiry", "uint48"),
        ("refundExpiry", "uint48"),
        ("minFeeBps", "uint16"),
        ("maxFeeBps", "uint16"),
        ("feeReceiver", "address"),
        ("salt", "uint256"),
    ],
);

/// First word of what a salt hashes that commits to a receiver authorizer and a policy.
const SALT_BINDING: Word = [
    0x8A, 0x2A, 0x7E, 0x41, 0xA0, 0xBD, 0xA0, 0x00, 0xDE, 0xD0, 0x71, 0xFF, 0x38, 0xB7, 0x94, 0x01, 0xD2, 0x60, 0x3E, 0x18, 0x26, 0x51, 0x6F, 0xF2,
    0x63, 0x5B, 0x11, 0xFE, 0x9E, 0x30, 0x87, 0x7F,
];

const UINT48_END: u128 = 1 << 48;

/// Serves the options of scheme `auth-capture` whose `extra` names the pairing's method.
pub(crate) fn serves(option: &Object, names_method: impl FnOnce(&Object) -> bool) -> Result<(), Unserved> {
    const REQUIRED: [&str; 8] =
        ["captureAuthorizer", "captureDeadline", "refundDeadline", "feeRecipient", "minFeeBps", "maxFeeBps", "name", "version"];
    let extra = extra(option).ok_or(Unserved::Other)?;
    if !names(option, "scheme", "auth-capture") || Places::of(option).is_none() {
        return Err(Unserved::Other);
    }
    if !REQUIRED.into_iter().all(|name| extra.has(name)) {
        return Err(Unserved::Refused(OPTION_MALFORMED));
    }
    if deployment(extra).is_none() {
        return Err(Unserved::Refused(ESCROW_NOT_CANONICAL));
    }
    if !absent_or(extra, "paymentFlow", &["escrow", "authorization"]) || extra.get("autoCapture") == Some(&Value::Bool(true)) {
        return Err(Unserved::Refused(FLOW_NOT_CARRIED));
    }
    if !names_method(extra) {
        return Err(Unserved::Other);
    }
    if Terms::of(option).is_none() { Err(Unserved::Refused(OPTION_MALFORMED)) } else { Ok(()) }
}

/// The release whose escrow the option names; the newest if it names none.
fn deployment(extra: &Object) -> Option<&'static Deployment> {
    let Some(escrow) = extra.get("authCaptureEscrow") else { return Some(&VERSION_1_1) };
    let escrow = escrow.as_str()?;
    [&VERSION_1_1, &VERSION_1_0].into_iter().find(|deployment| deployment.escrow.eq_ignore_ascii_case(escrow))
}

/// An option's terms.
pub(crate) struct Terms<'a> {
    pub(crate) places: Places<'a>,
    pub(crate) deployment: &'static Deployment,
    capture_authorizer: &'a str,
    fee_recipient: &'a str,
    receiver_authorizer: &'a str,
    policy: &'a str,
    amount: u128,
    capture_deadline: u128,
    refund_deadline: u128,
    min_fee_bps: u128,
    max_fee_bps: u128,
}

impl<'a> Terms<'a> {
    fn of(option: &'a Object) -> Option<Self> {
        let extra = extra(option)?;
        filled(extra, "name").and(filled(extra, "version"))?;
        timeout(option).filter(|&seconds| u128::from(seconds) < UINT48_END)?;
        let terms = Self {
            places: Places::of(option)?,
            deployment: deployment(extra)?,
            capture_authorizer: evm::address(extra, "captureAuthorizer")?,
            fee_recipient: evm::address(extra, "feeRecipient")?,
            receiver_authorizer: address_or_zero(extra, "receiverAuthorizer")?,
            policy: address_or_zero(extra, "policy")?,
            amount: amount(option).filter(|text| evm::is_amount(text)).and_then(uint128).filter(|&amount| amount < 1 << 120)?,
            capture_deadline: unsigned(extra, "captureDeadline", UINT48_END)?,
            refund_deadline: unsigned(extra, "refundDeadline", UINT48_END)?,
            min_fee_bps: unsigned(extra, "minFeeBps", 1 << 16)?,
            max_fee_bps: unsigned(extra, "maxFeeBps", 1 << 16)?,
        };
        let authorized = !names(extra, "paymentFlow", "authorization") || terms.receiver_authorizer != evm::ZERO_ADDRESS;
        authorized.then_some(terms)
    }

    /// The terms of an option that was served.
    pub(crate) fn served(option: &'a Object) -> Result<Self, Refusal> {
        Self::of(option).ok_or(OPTION_MALFORMED)
    }

    /// The amount, decimal.
    pub(crate) fn amount(&self) -> String {
        self.amount.to_string()
    }

    /// The payment that carries H and expires before that second.
    pub(crate) fn payment(&self, h: &Hash, expiry: u64) -> Result<EscrowPayment, Refusal> {
        let (salt, salt_nonce) = if self.commits() { (self.commitment(h)?, Some(*h)) } else { (*h.bytes(), None) };
        Ok(EscrowPayment { nonce: self.payment_hash(expiry.into(), salt)?, salt, salt_nonce })
    }

    /// Whether the salt commits to a receiver authorizer or a policy beside H.
    fn commits(&self) -> bool {
        [self.receiver_authorizer, self.policy] != [evm::ZERO_ADDRESS; 2]
    }

    fn commitment(&self, h: &Hash) -> Result<Word, Refusal> {
        let address = |text| address_word(text).ok_or(OPTION_MALFORMED);
        Ok(evm::keccak([SALT_BINDING, address(self.receiver_authorizer)?, address(self.policy)?, *h.bytes()].as_flattened()))
    }

    /// The escrow's hash of the payment for any payer, which is the authorization's nonce.
    fn payment_hash(&self, expiry: u128, salt: Word) -> Result<Word, Refusal> {
        if expiry >= UINT48_END {
            return Err(OPTION_MALFORMED);
        }
        let address = |text| address_word(text).ok_or(OPTION_MALFORMED);
        let info = evm::struct_hash(
            PAYMENT_INFO,
            &[
                address(self.capture_authorizer)?,
                address(evm::ZERO_ADDRESS)?,
                address(self.places.pay_to)?,
                address(self.places.asset)?,
                uint_word(self.amount),
                uint_word(expiry),
                uint_word(self.capture_deadline),
                uint_word(self.refund_deadline),
                uint_word(self.min_fee_bps),
                uint_word(self.max_fee_bps),
                address(self.fee_recipient)?,
                salt,
            ],
        );
        Ok(evm::keccak([uint_word(self.places.chain_id.into()), address(self.deployment.escrow)?, info].as_flattened()))
    }
}

/// A payment as the escrow knows it.
pub(crate) struct EscrowPayment {
    /// The authorization's nonce.
    pub(crate) nonce: Word,
    salt: Word,
    salt_nonce: Option<Hash>,
}

impl EscrowPayment {
    /// A payload, beside its signature.
    pub(crate) fn members(&self, authorization: &'static str, signed: Object) -> Object {
        Object::new().with(authorization, signed).with("salt", encoding::hex(&self.salt)).with_some("saltNonce", self.salt_nonce.as_ref())
    }
}

/// What a pairing's authorization is called, and holds.
pub(crate) struct Authorization {
    pub(crate) name: &'static str,
    /// Its string members.
    pub(crate) members: &'static [&'static str],
    pub(crate) expiry: &'static str,
    pub(crate) read_nonce: fn(&str) -> Option<Hash>,
}

impl Authorization {
    /// H of a payment whose authorization pays under the accepted terms.
    pub(crate) fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        let terms = Terms::served(payment.accepted)?;
        signature(payload.get("signature"), 1)?;
        let hash = |name| payload.get(name).and_then(Value::as_str).and_then(Hash::parse).ok_or(SALT_MALFORMED);
        let salt = hash("salt")?;
        let h = if terms.commits() {
            let h = hash("saltNonce")?;
            if terms.commitment(&h)? != *salt.bytes() {
                return Err(SALT_NOT_BOUND);
            }
            h
        } else if payload.has("saltNonce") {
            return Err(SALT_NOT_BOUND);
        } else {
            salt
        };
        let authorization = payload.get(self.name).and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        if self.members.iter().any(|name| short(authorization, name).is_none()) || evm::address(authorization, "from").is_none() {
            return Err(PAYLOAD_MALFORMED);
        }
        let text = |name| authorization.get(name).and_then(Value::as_str);
        let expiry = text(self.expiry).and_then(uint128).filter(|&expiry| expiry < UINT48_END).ok_or(PAYLOAD_MALFORMED)?;
        let nonce = text("nonce").and_then(self.read_nonce).ok_or(NONCE_NOT_PAYMENT)?;
        if *nonce.bytes() == terms.payment_hash(expiry, *salt.bytes())? { Ok(h) } else { Err(NONCE_NOT_PAYMENT) }
    }
}

/// An address member; the zero address if it is absent or null.
fn address_or_zero<'a>(extra: &'a Object, name: &str) -> Option<&'a str> {
    match extra.get(name) {
        None | Some(Value::Null) => Some(evm::ZERO_ADDRESS),
        Some(_) => evm::address(extra, name),
    }
}

/// A member that is a number below `end`, or a decimal string of one.
fn unsigned(extra: &Object, name: &str, end: u128) -> Option<u128> {
    let value = extra.get(name)?;
    let number = match value.as_str() {
        Some(text) => uint128(text),
        None => value.as_safe_unsigned().map(u128::from),
    };
    number.filter(|&number| number < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payment_info_has_the_escrows_type_hash() {
        let hash = encoding::hex(&evm::type_hash(PAYMENT_INFO));
        assert_eq!(hash, "0xae68ac7ce30c86ece8196b61a7c486d8f0061f575037fbd34e7fe4e2820c6591");
    }

    const OPTION: &str = r#"{"scheme":"auth-capture","network":"eip155:84532","amount":"10000","maxTimeoutSeconds":60,
        "asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "extra":{"captureAuthorizer":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","captureDeadline":1900000000,"refundDeadline":1900000001,
        "feeRecipient":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","minFeeBps":0,"maxFeeBps":100,"name":"USDC","version":"2"}}"#;

    fn option(members: &str) -> Value {
        crate::json::parse(&OPTION.replace(r#""extra":{"#, &format!(r#""extra":{{{members}"#)), 8).unwrap()
    }

    #[test]
    fn salt_is_h_or_commits_to_it() {
        let h = Hash::parse("0x8b1e122580ae3f6a8c3d36a24294e1260a87bde70f597279b973e39310072938").unwrap();
        let plain = option("");
        let payment = Terms::served(plain.as_object().unwrap()).unwrap().payment(&h, 1_796_056_260).unwrap();
        assert_eq!(payment.salt, *h.bytes());
        assert_eq!(payment.salt_nonce, None);
        assert_eq!(encoding::hex(&payment.nonce), "0xcacf0c101fa7de1508bf814d75cf22cd1992bc499454f76e60989495dce7c617");
        let bound = option(r#""receiverAuthorizer":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","#);
        let payment = Terms::served(bound.as_object().unwrap()).unwrap().payment(&h, 1_796_056_260).unwrap();
        assert_eq!(encoding::hex(&payment.salt), "0x563533d00b726dd4f222e504901b75aada886f4f91ddf821d54640f624b2156c");
        assert_eq!(payment.salt_nonce, Some(h));
        assert!(Terms::served(plain.as_object().unwrap()).unwrap().payment(&h, 1 << 48).is_err());
    }

    #[test]
    fn terms_as_numbers_or_decimals() {
        let extra = Object::new().with("number", 65535u32).with("text", "00065535").with("past", 65536u32).with("float", Value::Number(0.5));
        assert_eq!(unsigned(&extra, "number", 1 << 16), Some(65535));
        assert_eq!(unsigned(&extra, "text", 1 << 16), Some(65535));
        for name in ["past", "float", "absent"] {
            assert_eq!(unsigned(&extra, name, 1 << 16), None, "{name}");
        }
    }
}
