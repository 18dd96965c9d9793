//! What always holds of the gate, over a scripted seller, wallet and clock. What it answers in each case is held in place
//! by the recorded rows (crate `conformance`).
#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lcp::{DeclineCode, Hash, Object, Pairing, Value, encoding, json, registry};
use proptest::prelude::*;
use terms::{Body, CancellationToken, Env, Exchanged, Fetch, FetchFailed, Finished, Gate, Request, Response, Signer, SignerFailed, Transact};

const ATR: &[u8] = br#"{"atrVersion":"1"}"#;
const ACCOUNT: &str = "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const AGREEMENT: &str = "https://agree.seller.example/1";

/// Status, headers and body.
type Answer = (u16, Vec<(String, Vec<u8>)>, Vec<u8>);

/// A seller that answers each request with the next answer, the last one for ever, and the clock they share.
struct World {
    answers: Vec<Answer>,
    asked: Mutex<Vec<(Duration, Option<String>)>>,
    elapsed: Mutex<Duration>,
}

impl World {
    fn answering(answers: Vec<Answer>) -> Self {
        Self { answers, asked: Mutex::default(), elapsed: Mutex::default() }
    }

    fn serving(atr: &[u8]) -> Self {
        Self::answering(vec![(200, Vec::new(), atr.to_vec())])
    }
}

impl Fetch for &World {
    type Body = Once;

    async fn get(&self, request: Request<'_>) -> Result<Response<Once>, FetchFailed> {
        let payment = request.headers.iter().find(|(name, _)| *name == "PAYMENT-SIGNATURE").map(|(_, value)| (*value).to_owned());
        let mut asked = self.asked.lock().unwrap();
        asked.push((*self.elapsed.lock().unwrap(), payment));
        let (status, headers, body) =
            self.answers.get(asked.len() - 1).or(self.answers.last()).ok_or_else(|| FetchFailed::new("nothing is served"))?.clone();
        Ok(Response { status, headers, body: Once(Some(body)) })
    }
}

struct Once(Option<Vec<u8>>);

impl Body for Once {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        Ok(self.0.take())
    }
}

impl Env for &World {
    fn now(&self) -> u64 {
        1_790_000_000
    }

    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        *self.elapsed.lock().unwrap() += duration;
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// A wallet that signs everything with ones, and counts.
#[derive(Default)]
struct Ones(AtomicUsize);

fn ones() -> Value {
    format!("0x{}", "11".repeat(65)).into()
}

impl Signer for Ones {
    fn account(&self) -> Option<&str> {
        Some(ACCOUNT)
    }

    async fn sign(&self, request: &Value) -> Result<Value, SignerFailed> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(match request.get("requests").and_then(Value::as_array) {
            Some(requests) => vec![ones(); requests.len()].into(),
            None => ones(),
        })
    }
}

fn option() -> Object {
    Object::new()
        .with("scheme", "exact")
        .with("network", "eip155:84532")
        .with("amount", "10000")
        .with("asset", "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
        .with("payTo", "0x209693Bc6afc0C5328bA36FaF03C514EF312287C")
        .with("maxTimeoutSeconds", 60u32)
        .with("extra", Object::new().with("name", "USDC").with("version", "2"))
}

fn document() -> Value {
    let info = Object::new().with("type", "sha256").with("value", &Hash::of(ATR)).with("legalContextUrl", "https://atr.seller.example/1");
    let context = Object::new().with("legalContext", Object::new().with("info", info.with("legalContextAgreementUrl", AGREEMENT)));
    Object::new().with("x402Version", 2u32).with("accepts", [option().into()]).with("extensions", context).into()
}

fn eip3009() -> &'static dyn Pairing {
    registry::pairing("x402/exact/eip155/eip3009").unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn confirmed() -> terms::Confirmed {
    let world = World::serving(ATR);
    run(Gate::new(&world, &world).confirm(eip3009(), &document(), ACCOUNT, None)).unwrap()
}

#[test]
fn one_byte_less_is_never_signed() {
    let world = World::serving(&ATR[..ATR.len() - 1]);
    let wallet = Ones::default();
    let options = Transact { signer: &wallet, agreement_signer: None::<&Ones>, inputs: None, approved: None, cancel: &CancellationToken::new() };
    let decline = run(Gate::new(&world, &world).transact(eip3009(), &document(), options)).unwrap_err();
    assert_eq!(decline.declined.detail, "The bytes the link served do not hash to the advertised ATR hash.");
    assert_eq!((decline.code(), wallet.0.load(Ordering::Relaxed), decline.moved), (DeclineCode::HashMismatch, 0, None));
}

#[test]
fn the_account_is_judged_before_anything_is_fetched() {
    let world = World::serving(ATR);
    let decline =
        run(Gate::new(&world, &world).confirm(eip3009(), &document(), "eip155:1:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", None)).unwrap_err();
    assert_eq!(decline.code(), DeclineCode::NoPayableOption);
    assert!(world.asked.lock().unwrap().is_empty());
}

#[test]
fn an_agreement_that_never_settles_is_sent_as_one_payment_for_its_whole_window() {
    let world = World::answering(vec![(202, Vec::new(), Vec::new())]);
    let wallet = Ones::default();
    let approved = Object::new().with("url", AGREEMENT).with("option", option()).with("required", document()).into();
    let decline = run(Gate::new(&world, &world).agree(ATR, AGREEMENT, &wallet, Some(&approved), None, &CancellationToken::new())).unwrap_err();
    assert_eq!(decline.code(), DeclineCode::AgreementPending);
    let asked = world.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|(at, _)| at.as_secs()).collect::<Vec<_>>(), (0..120).map(|index| index * 2).collect::<Vec<_>>());
    assert!(asked.iter().all(|(_, payment)| payment == &asked[0].1));
    let sent = json::parse_bytes(&encoding::from_base64(asked[0].1.as_ref().unwrap()).unwrap(), 64).unwrap();
    assert_eq!(json::write(&decline.moved.unwrap().signed), json::write(&sent));
    assert_eq!(wallet.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_receipt_to_the_unpaid_request_is_a_recorded_agreement() {
    let receipt = Object::new().with("atrHash", &Hash::of(ATR)).with("agreed", true).with("network", "n").with("transaction", "t").with("more", 1u32);
    let world = World::answering(vec![(200, Vec::new(), json::write(&receipt.clone().into()).into_bytes())]);
    let wallet = Ones::default();
    let agreed = run(Gate::new(&world, &world).agree(ATR, AGREEMENT, &wallet, None, None, &CancellationToken::new())).unwrap();
    assert_eq!(agreed, Exchanged::Agreed(receipt.without("more").into()));
    assert_eq!(wallet.0.load(Ordering::Relaxed), 0);
}

/// Any JSON value of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::Number),
        "[a-z0-9:/x]{0,12}".prop_map(Value::from),
        Just(ones()),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,8}", inner), 0..4)
                .prop_map(|members| { members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)).into() }),
        ]
    })
}

/// The value with the member at one of its paths replaced.
fn replaced(value: &Value, path: &mut dyn Iterator<Item = usize>, with: &Value) -> Value {
    match (value, path.next()) {
        (Value::Object(object), Some(step)) if !object.is_empty() => {
            let (name, member) = object.iter().nth(step % object.len()).unwrap();
            Object::clone(object).with(name.clone(), replaced(member, path, with)).into()
        }
        (Value::Array(items), Some(step)) if !items.is_empty() => {
            let mut items = items.to_vec();
            let place = step % items.len();
            items[place] = replaced(&items[place], path, with);
            items.into()
        }
        _ => with.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// What `finish` returns, `check` takes, whatever became of the choice, the ATR and the signature on the way.
    #[test]
    fn what_finish_returns_check_takes(
        path in prop::collection::vec(any::<usize>(), 0..5),
        with in any_json(),
        signature in prop_oneof![Just(ones()), any_json()],
        atr in prop_oneof![Just(ATR.to_vec()), prop::collection::vec(any::<u8>(), 0..40)],
    ) {
        let chosen = replaced(&confirmed().chosen.to_json().into(), &mut path.into_iter(), &with);
        if let Ok(Finished::Signed { signed, landed, h }) = terms::finish(eip3009(), &atr, &chosen, &signature) {
            prop_assert_eq!(terms::check(eip3009(), &atr, &signed, landed.as_ref()), Ok(h));
            prop_assert_eq!(h, Hash::of(&atr));
        }
    }

    /// Any document and any account: a decline, or a request over the hash of the served bytes; never a panic.
    #[test]
    fn a_request_is_over_the_hash_of_the_served_bytes(path in prop::collection::vec(any::<usize>(), 0..6), with in any_json(), atr in prop_oneof![Just(ATR.to_vec()), prop::collection::vec(any::<u8>(), 0..40)]) {
        let world = World::serving(&atr);
        let document = replaced(&document(), &mut path.into_iter(), &with);
        if let Ok(confirmed) = run(Gate::new(&world, &world).confirm(eip3009(), &document, ACCOUNT, None)) {
            prop_assert_eq!(&confirmed.atr, &atr);
            let request = confirmed.request.unwrap();
            let nonce = request.get("typedData").unwrap().get("message").unwrap().get("nonce").unwrap();
            prop_assert_eq!(nonce.as_str().unwrap(), Hash::of(&atr).to_string());
        }
    }
}
