//! EIP-712 requests, hashed and signed by alloy.

use std::collections::BTreeMap;

use alloy_dyn_abi::TypedData;
use alloy_primitives::Signature;
use alloy_signer::SignerSync as _;
use alloy_signer_local::PrivateKeySigner;
use lcp::{
    Object, Value, encoding, json,
    pairing::Completed,
    wire::evm::{Domain, typed_data_digest},
};

use crate::rows::{AUTHORIZER, Case, PAYER, cases, text};

const PAIRINGS: [&str; 11] = [
    "mpp/charge/evm/authorization",
    "mpp/charge/evm/permit2",
    "mpp/charge/usdc/evm",
    "mpp/session/evm",
    "mpp/session/tempo",
    "x402/auth-capture/eip155/eip3009",
    "x402/auth-capture/eip155/permit2",
    "x402/batch-settlement/eip155",
    "x402/exact/eip155/eip3009",
    "x402/exact/eip155/permit2",
    "x402/upto/eip155/permit2",
];

/// Every kind of request that the pairings make: its primary type, and the domain's name where it is not the token's.
const KINDS: [&str; 21] = [
    "mpp/charge/evm/authorization: TransferWithAuthorization",
    "mpp/charge/evm/permit2: PermitBatchWitnessTransferFrom of Permit2",
    "mpp/charge/evm/permit2: PermitWitnessTransferFrom of Permit2",
    "mpp/charge/usdc/evm: TransferWithAuthorization",
    "mpp/session/evm within: Voucher of EVM Payment Channel",
    "mpp/session/evm: PermitWitnessTransferFrom of Permit2",
    "mpp/session/evm: ReceiveWithAuthorization",
    "mpp/session/evm: Voucher of EVM Payment Channel",
    "mpp/session/tempo within: Voucher of TIP20 Channel Reserve",
    "mpp/session/tempo within: Voucher of Tempo Stream Channel",
    "mpp/session/tempo: Voucher of TIP20 Channel Reserve",
    "mpp/session/tempo: Voucher of Tempo Stream Channel",
    "x402/auth-capture/eip155/eip3009: ReceiveWithAuthorization",
    "x402/auth-capture/eip155/permit2: PermitTransferFrom of Permit2",
    "x402/batch-settlement/eip155 within: Voucher of x402 Batch Settlement",
    "x402/batch-settlement/eip155: PermitWitnessTransferFrom of Permit2",
    "x402/batch-settlement/eip155: ReceiveWithAuthorization",
    "x402/batch-settlement/eip155: Voucher of x402 Batch Settlement",
    "x402/exact/eip155/eip3009: TransferWithAuthorization",
    "x402/exact/eip155/permit2: PermitWitnessTransferFrom of Permit2",
    "x402/upto/eip155/permit2: PermitWitnessTransferFrom of Permit2",
];

/// Typed data as alloy reads it: it is handed our JSON text.
fn read(typed_data: &Value) -> TypedData {
    serde_json::from_str(&json::write(typed_data)).unwrap()
}

/// What alloy saw of one kind of request.
#[derive(Debug, Default)]
struct Seen {
    requests: usize,
    /// Recorded signatures, which eth-account made, that alloy recovers to the payer or who signs for it.
    recorded: usize,
}

/// Signs the requests of payments.
struct Wallet {
    signers: [PrivateKeySigner; 2],
    seen: BTreeMap<String, Seen>,
}

impl Wallet {
    /// Signs a request, held against the signature recorded for it.
    fn sign(&mut self, case: &Case, request: &Value, recorded: &Value) -> Value {
        if request.get("kind") == Some(&"batch".into()) {
            let requests = request.get("requests").and_then(Value::as_array).unwrap();
            let recorded = |i| recorded.as_array().and_then(|answers| answers.get(i)).unwrap_or(&Value::Null);
            return requests.iter().enumerate().map(|(i, request)| self.sign(case, request, recorded(i))).collect::<Vec<_>>().into();
        }
        if request.get("kind") != Some(&"eip712".into()) {
            return recorded.clone(); // a transaction
        }
        let typed_data = request.get("typedData").unwrap();
        let typed = read(typed_data);
        if typed_data.get("types").unwrap().get("EIP712Domain").is_some() {
            assert_eq!(typed.resolver.encode_type("EIP712Domain").unwrap(), typed.domain.encode_type(), "{}", case.id());
        }
        let hash = typed.eip712_signing_hash().unwrap();
        assert_eq!(hash, typed_data_digest(&typed.domain.separator(), &typed.hash_struct().unwrap()), "{}", case.id());

        let signature = self.signers[0].sign_hash_sync(&hash).unwrap();
        assert_eq!(signature.recover_address_from_prehash(&hash).unwrap(), self.signers[0].address());

        let of_token = typed.primary_type.ends_with("WithAuthorization");
        let domain = if of_token { String::new() } else { format!(" of {}", typed.domain.name.as_deref().unwrap()) };
        let within = if case.within { " within" } else { "" };
        let seen = self.seen.entry(format!("{}{within}: {}{domain}", case.pairing.id(), typed.primary_type)).or_default();
        seen.requests += 1;
        let recorded = recorded.as_str().and_then(|text| text.parse::<Signature>().ok());
        let recorded = recorded.and_then(|signature| signature.recover_address_from_prehash(&hash).ok());
        seen.recorded += usize::from(self.signers.iter().any(|signer| Some(signer.address()) == recorded));
        encoding::hex(&signature.as_bytes()).into()
    }
}

#[test]
fn alloy_signs_what_is_asked() {
    let mut wallet = Wallet { signers: [PAYER, AUTHORIZER].map(|key| key.parse().unwrap()), seen: BTreeMap::new() };
    for case in ["x402-evm", "mpp"].into_iter().flat_map(|folder| cases(folder, &PAIRINGS)) {
        let request = case.request();
        let in_steps = case.pairing.id().starts_with("mpp/session/") && !case.within;
        let recorded = |step| match case.answer.as_array() {
            Some(answers) if in_steps => &answers[step],
            None if in_steps && step > 0 => &Value::Null,
            _ => &case.answer,
        };
        let first = wallet.sign(&case, &request, recorded(0));
        if first.is_null() {
            continue; // a transaction that no wallet signed in this row
        }
        let mut completed = case.unsigned.complete(&first);
        if let Ok(Completed::Next(next)) = &completed {
            let second = wallet.sign(&case, next, recorded(1));
            completed = case.unsigned.complete(&[first, second].into());
        }
        match completed {
            Ok(Completed::Payment { signed, landed }) => case.judge(&signed, landed.as_ref()),
            // What is confirmed need not be finished.
            Err(_) if case.answer.is_null() => (),
            other => panic!("{}: {other:?}", case.id()),
        }
    }
    let kinds: Vec<&str> = wallet.seen.keys().map(String::as_str).collect();
    assert_eq!(kinds, KINDS, "{:#?}", wallet.seen);
    for (kind, seen) in &wallet.seen {
        assert!(seen.recorded > 0, "{kind}: {seen:?}");
    }
}

/// A channel is named by the digest of its configuration, which we compute ourselves.
#[test]
fn alloy_names_the_same_channel() {
    const MEMBERS: [(&str, &str); 7] = [
        ("payer", "address"),
        ("payerAuthorizer", "address"),
        ("receiver", "address"),
        ("receiverAuthorizer", "address"),
        ("token", "address"),
        ("withdrawDelay", "uint40"),
        ("salt", "bytes32"),
    ];
    let members = MEMBERS.map(|(name, kind)| Value::from(Object::new().with("name", name).with("type", kind)));
    let mut compared = 0;
    for case in cases("x402-evm", &["x402/batch-settlement/eip155"]) {
        let request = case.request();
        let voucher = request.get("requests").and_then(Value::as_array).unwrap().last().unwrap();
        let voucher = voucher.get("typedData").unwrap();
        let domain = voucher.get("domain").unwrap();
        let ours = Domain {
            name: text(domain, "name"),
            version: text(domain, "version"),
            chain_id: domain.get("chainId").and_then(Value::as_safe_unsigned).unwrap(),
            contract: text(domain, "verifyingContract"),
        };
        // Any signatures do: the payment is built for the configuration in it.
        let signatures = vec![Value::from("0xab"); request.get("requests").and_then(Value::as_array).unwrap().len()];
        let Ok(Completed::Payment { signed, .. }) = case.unsigned.complete(&signatures.into()) else { continue };
        let config = signed.get("payload").unwrap().get("channelConfig").unwrap();
        let typed_data = Object::new()
            .with("domain", domain.clone())
            .with("types", Object::new().with("ChannelConfig", members.clone()))
            .with("primaryType", "ChannelConfig")
            .with("message", config.clone());
        let typed = read(&typed_data.into());
        assert_eq!(ours.separator(), Some(typed.domain.separator().0));
        assert_eq!(encoding::hex(&typed.eip712_signing_hash().unwrap().0), text(voucher.get("message").unwrap(), "channelId"), "{}", case.id());
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}
