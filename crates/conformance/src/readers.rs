//! One function for each reader of foreign bytes: what the fuzz targets run, and what the tests run over their corpora.
//!
//! Each panics where the reader breaks a promise, and returns on every other input.
#![allow(clippy::missing_panics_doc)] // as said above

use lcp::{
    Hash, Object, Value,
    account::Account,
    encoding,
    jose::{Compact, SdJwt, unverified_payload},
    json, link,
    pairing::{Buyer, Choice},
    registry,
    wire::{
        evm, rlp, solana, stellar,
        structured_field::{MAX_LENGTH, MAX_MEMBERS, dictionary},
        tempo::{
            self,
            channel::{Opening, Release},
        },
        xrpl,
    },
};
use terms::{CancellationToken, Gate, Signer, SignerFailed};

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
    ("stellar_transaction", stellar_transaction),
    ("stellar_address", stellar_address),
    ("xrpl_transaction", xrpl_transaction),
    ("xrpl_address", xrpl_address),
    ("mcp_line", mcp_line),
];

/// Each of these pays documents of its own networks.
const ACCOUNTS: [&str; 3] = [ACCOUNT, "cloudflare:402:agent", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN"];

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
    let inputs = Object::new()
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
        .with("tokenDomain", Object::new().with("name", "USDC").with("version", "2"));
    let h = lcp::ConfirmedHash::rehash(ATR);
    for pairing in registry::PAIRINGS.iter().filter_map(|entry| entry.pairing) {
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
    for pairing in registry::PAIRINGS.iter().filter_map(|entry| entry.pairing) {
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
