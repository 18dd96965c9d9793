//! One function for each reader of foreign bytes: what the fuzz targets run, and what the tests run over their corpora.
//!
//! Each panics where the reader breaks a promise, and returns on every other input.
#![allow(clippy::missing_panics_doc)] // as said above

mod judge;
mod plane;
mod records;
mod server;

use lcp::{
    Hash, Object, Value,
    account::Account,
    encoding,
    jose::{Compact, SdJwt, unverified_payload},
    json, link,
    pairing::{Buyer, Choice},
    registry,
    wire::{
        algorand, aptos,
        bolt11::Invoice,
        cardano, cbor, concordium, evm, hedera, near, rlp, solana, stacks, stellar,
        structured_field::{MAX_LENGTH, MAX_MEMBERS, dictionary},
        substrate, sui,
        tempo::{
            self,
            channel::{Opening, Release},
        },
        ton, tron, xrpl,
    },
};
use terms::{CancellationToken, Gate, Signer, SignerFailed};

pub use self::{
    plane::{payment_request, plane_bodies, plane_text, policy_document, stored_documents},
    records::{log_text, record_bundle},
    server::{http_request, operator_input, plane_mcp_line},
};
use crate::scripted::{Serves, Still};

/// A reader's name, which names its corpus too, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("json", json_text),
    ("link", link_text),
    ("encoding", encoded_text),
    ("document", document),
    ("payment", payment),
    ("permission_context", permission_context),
    ("token", token),
    ("sd_jwt", sd_jwt),
    ("structured_field", structured_field),
    ("agreement_answer", agreement_answer),
    ("hold", hold),
    ("within", within),
    ("rlp", rlp_item),
    ("transaction", transaction),
    ("tempo_transaction", tempo_transaction),
    ("tempo_key_authorization", tempo_key_authorization),
    ("solana_transaction", solana_transaction),
    ("hedera_transaction", hedera_transaction),
    ("invoice", invoice),
    ("cbor", cbor_item),
    ("cardano_transaction", cardano_transaction),
    ("concordium_transaction", concordium_transaction),
    ("stacks_transaction", stacks_transaction),
    ("tron_transaction", tron_transaction),
    ("substrate_extrinsic", substrate_extrinsic),
    ("ton_bag", ton_bag),
    ("algorand_transaction", algorand_transaction),
    ("aptos_transaction", aptos_transaction),
    ("near_action", near_action),
    ("sui_transaction", sui_transaction),
    ("stellar_transaction", stellar_transaction),
    ("stellar_address", stellar_address),
    ("xrpl_transaction", xrpl_transaction),
    ("xrpl_address", xrpl_address),
    ("mcp_line", mcp_line),
    ("policy_document", policy_document),
    ("payment_request", payment_request),
    ("plane_bodies", plane_bodies),
    ("plane_text", plane_text),
    ("stored_documents", stored_documents),
    ("record_bundle", record_bundle),
    ("log_text", log_text),
    ("http_request", http_request),
    ("plane_mcp_line", plane_mcp_line),
    ("operator_input", operator_input),
];

/// Each of these pays documents of its own networks.
const ACCOUNTS: [&str; 18] = [
    ACCOUNT,
    "cloudflare:402:agent",
    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN",
    "cardano:preprod:addr%5Ftest1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3jcu5d8ps7zex2k2xt3uqxgjqnnj83ws8lhrn648jjxtwq2ytjqp",
    "casper:casper-test:00d6199034908d56180d81ea5e6017a2eb82827bbb535f098f662d4e02a3fa8b4a",
    "stacks:2147483648:ST37X3883P4XF1HR8QEWFFAJFKAYHM4DX1E0F8TXT",
    "tron:728126428:TV8KNoryFTom7nt9tZtFAwgLMnCKi5zqS9",
    "starknet:SN_SEPOLIA:0x04a7b3c1d5e9f2a6b8c0d4e8f1a5b9c3d7e0f4a8b2c6d0e4f8a1b5c9d3e7f0a4",
    "polkadot:68d56f15f85d3136970ec16946040bc1:14a9ZCUGaJ1CaUqit3uW6hdCHP7xzxEZbF7Y9zC6aWUEJJ1D",
    "tvm:-239:0%3Abf06c62020af326f96eb485c8078745e412522a117516e81191bc8f6aa044213",
    "algorand:eCscyDkDgmtsfdGuxF_H-GY7BiW2ATCD:A6XMQUPYXGRNVBGRDBZI6VR7LW3ODD66GM4C6HFPBPBWLW6N22P2SW5KRXM",
    "aptos:2:0x1",
    "near:testnet:buyer.testnet",
    "sui:testnet:0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
    "hedera:testnet:0.0.5555",
    "hedera:testnet:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    "lnbtc:000000000933ea01ad0ee984209779ba:buyer",
    "lnbtc:000000000019d6689c085ae165831e93:buyer",
];

const ACCOUNT: &str = "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// The ATR that documents are paid over; some pairings build only over the hash that the document names.
const ATR: &[u8] = b"abc";

/// What is read is written and read back as itself, and the canonical form is its own canonical form.
pub fn json_text(data: &[u8]) {
    let Ok(value) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    let text = json::write(&value);
    let again = json::parse(&text, json::MAX_DEPTH).unwrap_or(Value::Null);
    assert_eq!(json::write(&again), text);
    if let Some(canonical) = json::canonical(&value) {
        assert_eq!(json::parse(&canonical, json::MAX_DEPTH).ok().and_then(|value| json::canonical(&value)), Some(canonical));
    }
}

/// No text is both an https link and one of another scheme, and an https link is one whatever follows its authority.
pub fn link_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    assert!(!(link::is_https(text) && link::is_other_scheme(text)), "{text:?}");
}

/// A text that decodes is the one text of its bytes.
pub fn encoded_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    assert!(encoding::from_base64(text).is_none_or(|bytes| encoding::base64(&bytes) == text));
    assert!(encoding::from_base64url(text).is_none_or(|bytes| encoding::base64url(&bytes) == text));
    assert_eq!(encoding::from_hex(text).map(|bytes| bytes.len()), encoding::hex_len(text));
    assert!(encoding::from_hex(text).is_none_or(|bytes| encoding::hex(&bytes).eq_ignore_ascii_case(text)));
    assert!(Hash::parse(text).is_none_or(|hash| hash.to_string().eq_ignore_ascii_case(text)));
    let _ = Account::parse(text);
}

/// A document goes through read, choose, build and request of every pairing; a request is there only over a link that the
/// gate would fetch.
pub fn document(data: &[u8]) {
    let Ok(document) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    let ref_block = Object::new().with("number", "71234567").with("id", format!("0x{}", "07".repeat(32)));
    let algorand_params = Object::new()
        .with("firstValid", "45000000")
        .with("genesisHash", "eCscyDkDgmtsfdGuxF/H+GY7BiW2ATCDh2ifvP27aRY=")
        .with("genesisId", "testnet-v1.0")
        .with("minFee", "1000")
        .with("feePerByte", "1");
    let inputs = Object::new()
        .with("refBlock", ref_block)
        .with("feeLimit", "100000000")
        .with("walletId", 2_147_483_409u32)
        .with("seqno", 12u32)
        .with("jettonWallet", format!("0:{}", "1b".repeat(32)))
        .with("attachNanotons", "50000000")
        .with("deposit", "100000")
        .with("decimals", 6u32)
        .with("openSlot", "312345678")
        .with("recentBlockhash", "439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn")
        .with("tokenProgram", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
        .with("spender", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .with("max_amount", 19_900u32)
        .with("currency", "usd")
        .with("merchant_id", "acct_1")
        .with("expires_at", "2027-01-01T00:00:00Z")
        .with("node", "0.0.3")
        .with("validStart", Object::new().with("seconds", "1790000000").with("nanos", 5u32))
        .with("maxFee", "100000000")
        .with("request", Object::new().with("method", "GET").with("url", "https://api.seller.example/a?b=1"))
        .with("returnInvoice", "lnbc1back")
        .with("tokenDomain", Object::new().with("name", "USDC").with("version", "2"))
        .with("publicKey", "3asbSsbWzgmn6AEpxe9y3h4qaReJ2zBkhhCGfXVgbWLJ")
        .with("accessKeyNonce", "103066617000686")
        .with("finalHeight", "165000000")
        .with("params", algorand_params);
    let h = lcp::ConfirmedHash::rehash(ATR);
    for pairing in registry::PAIRINGS.iter().map(|entry| entry.pairing) {
        let Ok(advertised) = pairing.read(&document) else { continue };
        assert!(link::is_https(&advertised.link), "{}", advertised.link);
        let accounts = advertised
            .options
            .iter()
            .filter_map(|option| Some(format!("{}:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", option.get("network")?.as_str()?)));
        for account in accounts.chain(ACCOUNTS.map(str::to_owned)) {
            let authorizer = if account.starts_with("solana") {
                "Esfaf4JvbAY2qa6qaY2StFH4tbVJ8CV2R1xdYdz9oXR8"
            } else {
                "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
            };
            let inputs = inputs.clone().with("payerAuthorizer", authorizer);
            let buyer = Buyer { account: &account, inputs: &inputs, now: 1_790_000_000, random: &|bytes| bytes.fill(7) };
            let Ok(choice) = pairing.choose(&advertised, &buyer) else { continue };
            let Ok(unsigned) = pairing.build(&Choice { choice: &choice, reference: &"r".repeat(32).into(), h: &h, atr: ATR }) else { continue };
            let _ = unsigned.request();
            for signature in [format!("0x{}", "11".repeat(65)), format!("0x{}", "11".repeat(64)), "1".repeat(64)].map(Value::from) {
                let _ = unsigned.complete(&signature);
                let _ = unsigned.complete(&[signature.clone(), signature].into());
            }
        }
    }
}

/// A presented payment is read by every pairing, its channel too; the gate checks and opens only what it reads H from.
pub fn payment(data: &[u8]) {
    let Ok(payment) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    for pairing in registry::PAIRINGS.iter().map(|entry| entry.pairing) {
        let _ = pairing.bound(&payment, None);
        if let Some(channel) = pairing.channel() {
            let _ = (channel.kind(&payment), channel.reference(&payment, None));
        }
        assert!(terms::check(pairing, b"no payment carries the hash of this", &payment, None).is_err());
    }
}

/// An ERC-7710 permission context.
pub fn permission_context(data: &[u8]) {
    let _ = evm::delegation::leaf_salt(data);
}

/// A compact token is the one text of its segments, and what its payload is does not depend on its signature.
pub fn token(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(token) = Compact::read(text) else {
        assert!(unverified_payload(text).is_err());
        return;
    };
    let segments = [&token.header, &token.payload, &token.signature].map(|segment| encoding::base64url(segment));
    assert_eq!(segments.join("."), text);
    assert_eq!(unverified_payload(&format!("{}.", token.signing_input)), unverified_payload(text));
}

/// An SD-JWT's claims are of bounded depth, and none of them is a list of digests.
pub fn sd_jwt(data: &[u8]) {
    fn holds_digests(value: &Value) -> bool {
        match value {
            Value::Object(object) => object.has("_sd") || object.iter().any(|(_, value)| holds_digests(value)),
            Value::Array(items) => items.iter().any(holds_digests),
            _ => false,
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(token) = SdJwt::read(text, 128) else { return };
    let claims = Value::from(token.claims);
    assert!(claims.nests_within(json::MAX_DEPTH) && !holds_digests(&claims));
}

/// A dictionary of structured fields reads the same with space around it.
pub fn structured_field(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(members) = dictionary(&text.into()) else { return };
    assert!(members.len() <= MAX_MEMBERS);
    if text.len() + 2 <= MAX_LENGTH {
        assert_eq!(dictionary(&format!(" {text} ").into()), Ok(members));
    }
}

/// What an agreement URL answers: a status byte, a header name byte, a header's length, the header, the body.
pub fn agreement_answer(data: &[u8]) {
    let Some((&[status, name, length], rest)) = data.split_first_chunk() else { return };
    let (value, body) = rest.split_at(rest.len().min(length.into()));
    let name = ["PAYMENT-REQUIRED", "Retry-After", "Content-Length", "Content-Encoding"][usize::from(name) % 4];
    let status = [200, 202, 402, 500, 301, u16::from(status)][usize::from(status) % 6];
    let gate = Gate::new(Serves { status, headers: vec![(name.to_owned(), value.to_vec())], body: body.to_vec() }, Still);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    let agreed = runtime.block_on(gate.agree(b"{}", "https://agree.example/1", &Refusing, None, None, &CancellationToken::new()));
    if let Ok(terms::Exchanged::Agreed(receipt)) = agreed {
        assert!(status == 200 && terms::is_receipt(&receipt, &Hash::of(b"{}")));
    }
}

/// A hold, as it comes back from an agent below the macs.
pub fn hold(data: &[u8]) {
    let Ok(hold) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    if let Ok(charged) = terms::record_charge(&hold, &"5".into()) {
        assert_eq!(charged.get("charged").and_then(Value::as_str), Some("5"));
    }
}

/// A hold and a document, or a refund: what is signed names the held channel.
pub fn within(data: &[u8]) {
    let Ok(value) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    let (Some(hold), Some(document)) = (value.get("hold"), value.get("document")) else { return };
    let Some(pairing) = hold.get("pairing").and_then(Value::as_str).and_then(registry::pairing) else { return };
    let gate = Gate::new(Serves::default(), Still);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    let Ok(payment) = runtime.block_on(gate.within(pairing, hold, document, &Signing, value.get("refund"), None)) else { return };
    let named = pairing.channel().and_then(|channel| channel.reference(&payment.signed, None).ok());
    assert_eq!(named.as_ref().map(|named| named.channel.as_str()), hold.get("channel").and_then(Value::as_str));
    assert_eq!(payment.hold.get("charged"), hold.get("charged"));
}

/// An RLP item is the one encoding of what it holds.
pub fn rlp_item(data: &[u8]) {
    fn encoded(item: rlp::Item<'_>) -> Vec<u8> {
        match item.items() {
            Some(items) => rlp::list(&items.into_iter().map(encoded).collect::<Vec<_>>()),
            None => rlp::string(item.bytes().unwrap_or_default()),
        }
    }
    if let Some(item) = rlp::Item::read(data, 8) {
        assert_eq!(encoded(item), data);
        assert!(item.uint().is_none_or(|uint| rlp::uint(uint) == data));
    }
}

/// A signed EIP-1559 transaction.
pub fn transaction(data: &[u8]) {
    assert!(evm::transaction::eip_1559_chain(data).is_none() || data.first() == Some(&2));
}

/// A signed Tempo transaction: a call that opens a channel opens it under the call's salt.
pub fn tempo_transaction(data: &[u8]) {
    let Some(transaction) = tempo::Transaction::read(data) else { return };
    if let Some(sender) = transaction.sender() {
        let _ = transaction.expiring_nonce_hash(&sender);
    }
    for call in &transaction.calls {
        let _ = tempo::tip20::memo(call.data);
        for release in [Release::V1, Release::V2] {
            let opening = Opening::read(release, call.data);
            assert!(opening.is_none_or(|opening| release.opens(call.data) && release.salt(call.data) == Some(&opening.salt)));
        }
    }
}

/// A signed key authorization.
pub fn tempo_key_authorization(data: &[u8]) {
    let _ = tempo::KeyAuthorization::read(data);
}

/// A Solana transaction that is read is the one form of what it holds.
pub fn solana_transaction(data: &[u8]) {
    if let Some(transaction) = solana::Transaction::decode(data) {
        assert_eq!(transaction.encode(), data);
        let _ = (solana::payment_channels::act(&transaction.message), solana::memo::written(&transaction.message).count());
    }
    let read = solana::Transaction::read(Some(&encoding::base64(data).into()));
    assert!(read.is_err() || data.len() <= solana::MAX_WIRE);
}

/// The memo of a Hedera transaction fits the network's limit, and a list that stands twice has no other.
pub fn hedera_transaction(data: &[u8]) {
    let Ok(memo) = hedera::memo(data) else { return };
    assert!(memo.len() <= 100);
    let twice = [data, data].concat();
    assert!(hedera::memo(&twice).map_or(true, |again| again == memo));
}

/// An invoice of Lightning reads the same in letters of the other case, and expires in a time that can be counted.
pub fn invoice(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(invoice) = Invoice::decode(&text.into()) else { return };
    assert!(invoice.expires() < 1 << 51);
    assert_eq!(Invoice::decode(&text.to_lowercase().into()), Ok(invoice.clone()));
    assert_eq!(Invoice::decode(&text.to_uppercase().into()), Ok(invoice));
}

/// A CBOR item stands in the very bytes that were read, and so does each item in it.
pub fn cbor_item(data: &[u8]) {
    fn holds_together(item: &cbor::Item<'_>) {
        assert!(cbor::Item::read(item.raw, ANY_CBOR).is_some());
        match &item.data {
            cbor::Data::List(items) => items.iter().for_each(holds_together),
            cbor::Data::Map(entries) => {
                let _ = (cbor::keys_are_unique(entries, cbor::Same::Written), cbor::keys_are_unique(entries, cbor::Same::Decoded));
                for (key, value) in entries {
                    holds_together(key);
                    holds_together(value);
                }
            }
            cbor::Data::Tag(_, item) => holds_together(item),
            _ => {}
        }
    }
    let Some(item) = cbor::Item::read(data, ANY_CBOR) else { return };
    assert_eq!(item.raw, data);
    if data.len() < 4096 {
        holds_together(&item);
    }
}

const ANY_CBOR: cbor::Bounds = cbor::Bounds { indefinite: true, depth: 64, items: usize::MAX };

/// A Cardano transaction, and its message.
pub fn cardano_transaction(data: &[u8]) {
    if let Ok(transaction) = cardano::Transaction::decode(data) {
        assert!(transaction.message().is_err() || data.ends_with(transaction.auxiliary_data.raw));
    }
    let read = cardano::from_base64(&encoding::base64(data).into());
    assert!(read.is_err() || data.len() <= cardano::MAX_WIRE);
}

/// A signed Concordium transaction, which is JSON.
pub fn concordium_transaction(data: &[u8]) {
    let Ok(transaction) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    if let Ok(memo) = concordium::memo(&transaction) {
        let text = concordium::memo_text(&memo);
        assert!(text.is_err() || memo.len() <= concordium::MAX_MEMO);
    }
}

/// A Stacks transaction: its arguments stand at its end, in the bytes that were read.
pub fn stacks_transaction(data: &[u8]) {
    let Ok(transaction) = stacks::Transaction::decode(data) else { return };
    assert!(data.len() <= stacks::MAX_WIRE);
    if let Some(call) = transaction.call {
        assert!(data.ends_with(&call.arguments.concat()));
    }
}

/// A TRON transaction: its raw bytes are the one form of what they hold.
pub fn tron_transaction(data: &[u8]) {
    if let Ok(transaction) = tron::Transaction::read(data) {
        let raw = tron::Raw::decode(transaction.raw);
        assert!(raw.is_err() || transaction.signatures.first().is_none_or(|signature| tron::signed(transaction.raw, signature).len() <= data.len()));
    }
    if let Ok(raw) = tron::Raw::decode(data) {
        assert_eq!(raw.encode(), data);
    }
}

/// A signed extrinsic ends with what stands behind its signature, and a call is the one form of what it holds.
pub fn substrate_extrinsic(data: &[u8]) {
    let call = match substrate::behind_signature(data) {
        Ok(behind) => {
            assert!(data.ends_with(behind));
            behind
        }
        Err(_) => data,
    };
    // The extensions in front of a call are of any length.
    for start in 0..call.len().min(64) {
        let call = call.get(start..).unwrap_or_default();
        assert!(substrate::asset_hub::TransferWithRemark::decode(call).is_none_or(|read| read.encode() == call));
    }
}

/// A bag of cells is written and read as itself; its root is read as a message and all that a message may hold.
pub fn ton_bag(data: &[u8]) {
    let Ok(root) = ton::decode(data) else { return };
    // A checksum is added.
    let bag = ton::encode(&root);
    assert!(bag.len() > ton::MAX_BAG || ton::decode(&bag).is_ok_and(|again| again == root));
    let _ = (ton::message::StateInit::read(&root), ton::message::merkle_nesting(&root), ton::jetton::comment_text(&root));
    if let Some(body) = root.parse() {
        let _ = ton::jetton::forward_payload(body);
    }
    let Some(delivered) = ton::message::Message::read(&root) else { return };
    let Ok((_, sent)) = ton::wallet::sent(delivered.body) else { return };
    if let Some(sent) = ton::message::Message::read(sent) {
        let _ = ton::jetton::forward_payload(sent.body);
    }
}

/// A note that is read from an Algorand transaction is within its bound, and no byte may follow the transaction.
pub fn algorand_transaction(data: &[u8]) {
    if let Ok(note) = algorand::decode_note(data) {
        assert!(note.len() <= 4096);
        assert!(algorand::decode_note(&[data, &[0]].concat()).is_err());
    }
    let _ = std::str::from_utf8(data).map(algorand::Address::parse);
}

/// What stands behind an Aptos transaction changes nothing.
pub fn aptos_transaction(data: &[u8]) {
    if let Ok(transfer) = aptos::Transfer::decode(data) {
        assert_eq!(aptos::Transfer::decode(&[data, b"more"].concat()).ok(), Some(transfer));
    }
    let read = aptos::Transfer::read(&encoding::base64(data).into());
    assert!(read.is_err() || data.len() <= aptos::MAX_WIRE);
}

/// A signed delegate action that is read is the one form of what it holds.
pub fn near_action(data: &[u8]) {
    if let Ok((action, signature)) = near::DelegateAction::decode_signed(data) {
        assert_eq!(near::signed(&action.encode(), &signature), data);
        let _ = near::ft_transfer::memo(&action);
    }
    let _ = std::str::from_utf8(data).map(near::PublicKey::parse);
}

/// No byte may follow a Sui transaction.
pub fn sui_transaction(data: &[u8]) {
    if let Ok(transaction) = sui::Transaction::decode(data) {
        assert!(transaction.unused().map(<[u8]>::len).sum::<usize>() <= data.len());
        assert!(sui::Transaction::decode(&[data, &[0]].concat()).is_err());
    }
}

/// A Stellar transaction: one that is read is read alike after an account has signed its entry.
pub fn stellar_transaction(data: &[u8]) {
    let Some(transaction) = stellar::Transaction::read(data) else { return };
    let Some(invocation) = &transaction.invocation else { return };
    for entry in &invocation.entries {
        let _ = (entry.is_too_deep(), entry.transfer(), entry.allows(invocation));
        let Some(unsigned) = transaction.unsigned(entry, 7, stellar::Network::Testnet, true) else { continue };
        let signed = unsigned.signed(&[8; 64]);
        let again = stellar::Transaction::read(&signed).and_then(|transaction| transaction.invocation);
        // A signature may be longer than what stood in its place.
        assert!(again.as_ref().map_or(signed.len() > stellar::MAX_ENVELOPE, |again| {
            again.transfer() == invocation.transfer() && again.entries.len() == invocation.entries.len()
        }));
    }
}

/// A Stellar address has one text.
pub fn stellar_address(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    assert!(stellar::Address::parse(text).is_none_or(|address| address.to_string() == text));
}

/// An XRPL transaction: its fields stand in their order, and only one that opens a channel names it.
pub fn xrpl_transaction(data: &[u8]) {
    let Some(transaction) = xrpl::Transaction::read(data) else { return };
    assert!(transaction.fields().iter().map(|(code, _)| code).is_sorted_by(|code, next| code < next));
    assert!(transaction.channel_id().is_none() || transaction.is_channel_create());
    let _ = (transaction.network_id(), transaction.invoice_id(), transaction.memos().count());
}

/// An XRPL address is in the form of one.
pub fn xrpl_address(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    assert!(xrpl::account_id(text).is_none() || xrpl::is_address_form(text));
}

/// A line from an MCP client: whatever it is, the session goes on and a ping behind it is answered.
pub fn mcp_line(data: &[u8]) {
    let line: Vec<u8> = data.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
    // A request under the ping's own id, or a cancellation of it, is the client's own fault.
    if line.windows(PING.len()).any(|window| window == PING.as_bytes()) {
        return;
    }
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n"
    );
    let ping = format!("\n{{\"jsonrpc\":\"2.0\",\"id\":\"{PING}\",\"method\":\"ping\"}}\n");
    let lines = [hello.as_bytes(), &line, ping.as_bytes()].concat();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    let (answers, mut theirs) = tokio::io::duplex(1 << 24);
    runtime.block_on(async {
        let server = terms_mcp::BuyerServer::new(Serves::default(), Still).signer(Refusing);
        assert!(terms_mcp::serve(server, std::io::Cursor::new(lines), answers).await.is_ok());
        let mut text = Vec::new();
        assert!(tokio::io::AsyncReadExt::read_to_end(&mut theirs, &mut text).await.is_ok());
        let text = String::from_utf8(text).unwrap_or_default();
        assert!(text.lines().any(|line| line.contains(PING) && line.contains("result")), "{text}");
    });
}

const PING: &str = "the-ping-behind-it";

struct Refusing;

impl Signer for Refusing {
    fn account(&self) -> Option<&str> {
        Some(ACCOUNT)
    }

    async fn sign(&self, _request: &Value) -> Result<Value, SignerFailed> {
        Err(SignerFailed::new("this wallet signs nothing"))
    }
}

/// Answers every request with one string for each signature that is asked.
struct Signing;

impl Signer for Signing {
    fn account(&self) -> Option<&str> {
        Some(ACCOUNT)
    }

    async fn sign(&self, request: &Value) -> Result<Value, SignerFailed> {
        let asked = request.get("requests").and_then(Value::as_array).map_or(1, <[Value]>::len);
        let of_solana = json::write(request).contains("ed25519-raw");
        Ok(vec![Value::from(if of_solana { "1".repeat(64) } else { "0x11".to_owned() }); asked].into())
    }
}
