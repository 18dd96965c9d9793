//! Key authorizations and transactions, read by Tempo's own crate.

use alloy_primitives::{Address, B256};
use alloy_rlp::Decodable as _;
use alloy_signer::SignerSync as _;
use alloy_signer_local::PrivateKeySigner;
use lcp::{encoding, pairing::Completed, wire::tempo::Transaction};
use tempo_primitives::transaction::{AASigned, SignedKeyAuthorization};

use crate::rows::{PAYER, cases, text};

#[test]
fn tempo_reads_the_key_authorizations() {
    let payer: PrivateKeySigner = PAYER.parse().unwrap();
    let mut read = 0;
    for case in cases("mpp", &["mpp/subscription/tempo"]) {
        let digest: B256 = text(&case.request(), "digest").parse().unwrap();
        let signature = payer.sign_hash_sync(&digest).unwrap();
        let signed = match case.unsigned.complete(&encoding::hex(&signature.as_bytes()).into()) {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{}: {other:?}", case.id()),
        };
        let wire = encoding::from_hex(text(signed.get("payload").unwrap(), "signature")).unwrap();
        let mut rest = &*wire;
        let authorization = SignedKeyAuthorization::decode(&mut rest).unwrap_or_else(|error| panic!("{}: {error}", case.id()));
        assert!(rest.is_empty(), "{}", case.id());
        assert_eq!(alloy_rlp::encode(&authorization), wire, "{}", case.id());
        assert_eq!(authorization.signature_hash(), digest, "{}", case.id());
        assert_eq!(authorization.witness(), Some(B256::from(*case.h.bytes())), "{}", case.id());
        assert_eq!(authorization.recover_signer().unwrap(), payer.address(), "{}", case.id());
        read += 1;
    }
    assert!(read > 50, "{read}");
}

/// The transactions that Tempo's crate does not read. Of fee payers, authorizations and signatures we read no more than the
/// sender and the calls need, and the seller judges the rest; in the first, the fee payer's signature is still to come.
const UNREAD: [&str; 15] = [
    "mpp-charge-tempo-memo:fee-payer:finish",
    "mpp-charge-tempo-memo:tx-fee-payer-zero:finish",
    "mpp-charge-tempo-memo:tx-fee-token-5-bytes:finish",
    "mpp-charge-tempo-memo:tx-auth-list-entry:finish",
    "mpp-charge-tempo-memo:tx-auth-list-any:finish",
    "mpp-charge-tempo-memo:tx-signature-empty:finish",
    "mpp-charge-tempo-memo:tx-signature-short:finish",
    "mpp-charge-tempo-memo:tx-depth-8:finish",
    "mpp-charge-tempo-memo:tx-depth-9:finish",
    "mpp-session-tempo:tx-key-authorization:finish",
    "mpp-session-tempo:tx-auth-list-ok:finish",
    "mpp-session-tempo:tx-auth-list-65-03:finish",
    "mpp-session-tempo:tx-auth-list-empty-signature:finish",
    "mpp-session-tempo:tx-fee-payer-zero-byte:finish",
    "mpp-session-tempo:tx-fee-payer-empty-list:finish",
];

/// The transactions whose P-256 signature Tempo's crate finds false: we take the account from the public key beside it.
const UNVERIFIED: [&str; 5] = [
    "mpp-session-tempo:tx-p256-ours:finish",
    "mpp-session-tempo:tx-webauthn-ours:finish",
    "mpp-session-tempo:tx-webauthn-128:finish",
    "mpp-session-tempo:tx-webauthn-2048:finish",
    "mpp-session-tempo:tx-keychain-v2-p256:finish",
];

#[test]
fn tempo_reads_the_transactions_alike() {
    let (mut unread, mut unverified, mut nonces) = (Vec::new(), Vec::new(), 0);
    for case in cases("mpp", &["mpp/charge/tempo/memo", "mpp/session/tempo"]) {
        let answer = case.answer.as_array().and_then(|answers| answers.first()).unwrap_or(&case.answer);
        let Some(wire) = answer.as_str().and_then(encoding::from_hex).filter(|wire| wire.first() == Some(&0x76)) else { continue };
        let ours = Transaction::read(&wire).unwrap();
        let Ok(theirs) = AASigned::rlp_decode(&mut &wire[1..]) else {
            unread.push(case.id().to_owned());
            continue;
        };
        let mut again = Vec::new();
        theirs.eip2718_encode(&mut again);
        // The last byte, a signature's parity, is written in one of several forms.
        assert_eq!(again.split_last().unwrap().1, wire.split_last().unwrap().1, "{}", case.id());
        assert!(ours.is_on(theirs.tx().chain_id), "{}", case.id());
        let calls: Vec<(_, &[u8])> = theirs.tx().calls.iter().map(|call| (call.to.to().copied(), call.input.as_ref())).collect();
        assert_eq!(ours.calls.iter().map(|call| (call.to.map(Address::from), call.data)).collect::<Vec<_>>(), calls, "{}", case.id());

        let Ok((sender, nonce)) = theirs.recover_signer_with_expiring_nonce_hash() else {
            unverified.push(case.id().to_owned());
            continue;
        };
        assert_eq!(ours.sender().map(Address::from), Some(sender), "{}", case.id());
        if let Some(nonce) = nonce {
            assert_eq!(ours.expiring_nonce_hash(&sender), nonce, "{}", case.id());
            nonces += 1;
        }
    }
    assert_eq!(unread, UNREAD);
    assert_eq!(unverified, UNVERIFIED);
    assert!(nonces > 50, "{nonces}");
}
