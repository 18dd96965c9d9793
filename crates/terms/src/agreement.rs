//! The agreement exchange: an x402 payment at the agreement URL, whose receipt names H.

use std::time::Duration;

use lcp::{
    DeclineCode, Declined, Hash, Object, Pairing, Refusal, Value, encoding, json,
    pairing::Buyer,
    registry,
    x402::document::{self, MAX_OPTIONS, NO_PAYABLE_OPTION},
};

use crate::{
    CancellationToken, Chosen, Decline, Env, Fetch, Gate, Moved, Request, Response, Signer,
    confirm::{https_or_decline, is_receipt, names_hash},
    fetch::{FetchFailed, IDENTITY},
    finish::at_most_1_mib,
    input_malformed, inputs_of,
    signing::{Signing, account_of},
};

/// The namespace of refusals when an agreement is paid on its own.
pub(crate) const NAMESPACE: &str = "x402";

/// The largest receipt, and the longest `PAYMENT-REQUIRED` header.
const MAX_ANSWER: usize = 65_536;
const UNPAID_DEADLINE: Duration = Duration::from_secs(10);
const DEFAULT_WAIT: Duration = Duration::from_secs(2);

/// An agreement payment to approve, or one that was approved.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// The agreement URL.
    pub url: String,
    /// The option to pay, as served.
    pub option: Value,
    /// The payment request that offers it, as served.
    pub required: Value,
}

/// What an agreement exchange came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Exchanged {
    /// The agreement is recorded: `{atrHash, agreed, network, transaction}`, as the agreement URL states it.
    Agreed(Value),
    /// The payment to approve; nothing was signed.
    ToApprove(Approve),
}

impl Approve {
    /// The JSON form, `{url, option, required}`.
    pub fn to_json(&self) -> Object {
        Object::new().with("url", self.url.as_str()).with("option", &self.option).with("required", &self.required)
    }

    /// Reads the JSON form.
    fn read(approved: &Value, namespace: &str) -> Result<Self, Declined> {
        let object = |name| approved.get(name).filter(|member| member.as_object().is_some()).cloned();
        let read = || Some(Self { url: approved.get("url")?.as_str()?.to_owned(), option: object("option")?, required: object("required")? });
        read().ok_or_else(|| input_malformed(namespace))
    }
}

/// What the caller approved, not read yet: absent and null are none, and anything but an object is malformed.
pub(crate) fn approved_of<'a>(approved: Option<&'a Value>, namespace: &str) -> Result<Option<&'a Value>, Declined> {
    match approved {
        None | Some(Value::Null) => Ok(None),
        Some(approved) if approved.as_object().is_some() => Ok(Some(approved)),
        Some(_) => Err(input_malformed(namespace)),
    }
}

/// The agreement URL in the JSON form of a chosen payment, or the decline for one that names none.
pub fn agreement_of(chosen: &Value) -> Result<&str, Declined> {
    let url = chosen
        .get("agreement")
        .filter(|url| !url.is_null())
        .ok_or_else(|| Declined::because(DeclineCode::OfferUnreadable, "The chosen payment names no agreement URL."))?;
    url.as_str().ok_or_else(|| Declined::refused(DeclineCode::LinkNotHttps, &Refusal::of(NAMESPACE, "legal-context-malformed")))
}

/// What an exchange is about.
pub(crate) struct Exchange<'a> {
    pub(crate) url: &'a str,
    pub(crate) atr: &'a [u8],
    pub(crate) namespace: &'a str,
    pub(crate) approved: Option<&'a Value>,
    pub(crate) inputs: Option<&'a Value>,
    pub(crate) cancel: &'a CancellationToken,
}

/// The option that is paid.
struct Payable {
    pairing: &'static dyn Pairing,
    option: Value,
    choice: Object,
    /// `maxTimeoutSeconds`.
    timeout: u64,
    h: Hash,
}

impl<F: Fetch, E: Env> Gate<F, E> {
    /// The agreement payment at an agreement URL: shows it for approval, or, approved, pays it and returns the receipt.
    ///
    /// `url` comes from a confirmed payment's `chosen.agreement`.
    pub async fn agree<S: Signer>(
        &self,
        atr: &[u8],
        url: &str,
        signer: &S,
        approved: Option<&Value>,
        inputs: Option<&Value>,
        cancel: &CancellationToken,
    ) -> Result<Exchanged, Decline> {
        at_most_1_mib(atr)?;
        https_or_decline(url, NAMESPACE)?;
        inputs_of(inputs, NAMESPACE)?;
        let approved = approved_of(approved, NAMESPACE)?;
        self.exchange(signer, Exchange { url, atr, namespace: NAMESPACE, approved, inputs, cancel }).await
    }

    pub(crate) async fn exchange(&self, signer: &impl Signer, exchange: Exchange<'_>) -> Result<Exchanged, Decline> {
        https_or_decline(exchange.url, exchange.namespace)?;
        let approved = exchange.approved.map(|approved| Approve::read(approved, exchange.namespace)).transpose()?;
        let inputs = inputs_of(exchange.inputs, exchange.namespace)?;
        let account = account_of(signer, exchange.namespace)?;
        if exchange.cancel.is_cancelled() {
            return Err(cancelled_before());
        }
        let h = Hash::of(exchange.atr);
        let Some(approved) = approved else {
            return match self.ask_unpaid(&exchange, &h).await? {
                Unpaid::Recorded(receipt) => Ok(Exchanged::Agreed(receipt)),
                Unpaid::Required(required) => {
                    let payable = self.payable(&required, None, account, &inputs)?;
                    same_hash(&payable, &h)?;
                    Ok(Exchanged::ToApprove(Approve { url: exchange.url.to_owned(), option: payable.option, required }))
                }
            };
        };
        if approved.url != exchange.url {
            return Err(Decline::because(DeclineCode::AgreementFailed, "The approved payment is for another agreement URL."));
        }
        let payable = self.payable(&approved.required, Some(&approved.option), account, &inputs)?;
        same_hash(&payable, &h)?;

        let chosen = Chosen { pairing: payable.pairing.id().to_owned(), choice: payable.choice, reference: self.draw_reference(), agreement: None };
        let signing = Signing::of(payable.pairing, exchange.atr, &chosen)?;
        let (signed, _) = signing
            .sign(signer)
            .await?
            .ok_or_else(|| Decline::because(DeclineCode::OfferUnreadable, "The agreement payment leaves nothing to sign."))?;
        if exchange.cancel.is_cancelled() {
            return Err(cancelled_before());
        }
        if !signed.nests_within(json::MAX_DEPTH) {
            return Err(Decline::because(DeclineCode::SignedNotBound, "The agreement payment nests too deep to be sent."));
        }
        let moved = Moved { signed: signed.clone(), atr: exchange.atr.to_vec(), h };
        let receipt = self.send_until_recorded(&exchange, &h, &signed, payable.timeout).await;
        receipt.map(Exchanged::Agreed).map_err(|declined| Decline::from(declined).with_moved(Some(moved)))
    }

    async fn ask_unpaid(&self, exchange: &Exchange<'_>, h: &Hash) -> Result<Unpaid, Decline> {
        let answered = async {
            let response = self.get(exchange.url, &[IDENTITY], UNPAID_DEADLINE).await.map_err(|_| unreachable())?;
            match response.status {
                200 | 402 if !response.is_identity() => Err(coded()),
                200 => {
                    let body = response.read(MAX_ANSWER).await.map_err(|_| unreachable())?;
                    recorded(body.as_deref(), h).map(Unpaid::Recorded)
                }
                202 => Err(Declined::because(DeclineCode::AgreementPending, "An agreement payment for this ATR is settling already.")),
                402 => required(&response)
                    .map(Unpaid::Required)
                    .ok_or_else(|| failed("The agreement URL answered 402 without a readable PAYMENT-REQUIRED header.")),
                status => Err(failed(&format!("The agreement URL answered with status {status}."))),
            }
        };
        let answer = until_cancelled(exchange.cancel, answered).await.ok_or_else(cancelled_before)?;
        Ok(answer?)
    }

    /// Sends one payment, again and again, until its receipt is there or the window ends. It is never signed anew.
    async fn send_until_recorded(&self, exchange: &Exchange<'_>, h: &Hash, signed: &Value, timeout: u64) -> Result<Value, Declined> {
        let pending = |sentence: &str| Declined::because(DeclineCode::AgreementPending, sentence);
        let cancelled = || pending("The exchange was cancelled after the agreement payment was sent.");
        let payment = encoding::base64(json::write(signed).as_bytes());
        let headers = [IDENTITY, ("PAYMENT-SIGNATURE", payment.as_str())];
        let deadline = Duration::from_secs(timeout.min(120) + 60 + 10);
        let end = self.env.elapsed() + Duration::from_secs(timeout.saturating_add(180));
        loop {
            let remaining = end.saturating_sub(self.env.elapsed());
            if remaining.is_zero() {
                return Err(pending("The agreement payment was sent and is not recorded yet."));
            }
            let sending = self.send_paid(exchange.url, &headers, deadline.min(remaining), h);
            let wait = match until_cancelled(exchange.cancel, sending).await.ok_or_else(cancelled)? {
                Sent::Recorded(receipt) => return Ok(receipt),
                Sent::Failed(declined) => return Err(declined),
                Sent::Wait(wait) => wait,
            };
            let wait = wait.min(end.saturating_sub(self.env.elapsed()));
            until_cancelled(exchange.cancel, self.env.sleep(wait)).await.ok_or_else(cancelled)?;
        }
    }

    async fn send_paid(&self, url: &str, headers: &[(&str, &str)], deadline: Duration, h: &Hash) -> Sent {
        let Ok(response) = self.get(url, headers, deadline).await else { return Sent::Wait(DEFAULT_WAIT) };
        match response.status {
            200 | 402 if !response.is_identity() => Sent::Failed(coded()),
            200 => match response.read(MAX_ANSWER).await {
                Err(_) => Sent::Wait(DEFAULT_WAIT),
                Ok(body) => recorded(body.as_deref(), h).map_or_else(Sent::Failed, Sent::Recorded),
            },
            202 => Sent::Wait(response.header("retry-after").and_then(|text| retry_after(&text)).unwrap_or(DEFAULT_WAIT)),
            500..=599 => Sent::Wait(DEFAULT_WAIT),
            status => Sent::Failed(failed(&format!("The agreement URL answered the payment with status {status}."))),
        }
    }

    async fn get(&self, url: &str, headers: &[(&str, &str)], deadline: Duration) -> Result<Response<F::Body>, FetchFailed> {
        self.fetch.get(Request { url, headers, deadline, body_bound: MAX_ANSWER }).await
    }

    /// Selects the option that this account can pay: the first of the request, or the approved one.
    fn payable(&self, required: &Value, approved: Option<&Value>, account: &str, inputs: &Object) -> Result<Payable, Declined> {
        let unreadable = |refusal: &Refusal| Declined::refused(DeclineCode::OfferUnreadable, refusal);
        let context = document::legal_context(required);
        let options = required.get("accepts").and_then(Value::as_array).filter(|options| options.len() <= MAX_OPTIONS);
        let options = options.filter(|options| options.iter().any(|option| option.as_object().is_some()));
        let Some(options) = options else { return Err(unreadable(&context.err().unwrap_or(NO_PAYABLE_OPTION))) };
        let candidates = match approved {
            None => options,
            Some(option) => {
                context.as_ref().map_err(unreadable)?;
                let offered = options.iter().find(|offered| json::same(offered, option));
                std::slice::from_ref(offered.ok_or_else(|| unreadable(&Refusal::new("x402/option-not-in-document")))?)
            }
        };
        let mut refused = None;
        for option in candidates.iter().filter(|option| option.as_object().is_some()) {
            match self.payable_option(required, option, account, inputs) {
                Some(Ok(payable)) => return Ok(payable),
                Some(Err(refusal)) => refused = refused.or(Some(refusal)),
                None => {}
            }
        }
        match (refused, context) {
            (Some(refusal), _) => Err(Declined::refused(DeclineCode::NoPayableOption, &refusal)),
            (None, Err(refusal)) => Err(unreadable(&refusal)),
            (None, Ok(_)) => Err(Declined::refused(DeclineCode::NoPayableOption, &NO_PAYABLE_OPTION)),
        }
    }

    /// One option as its pairing's payment; `None` where no publicly proven pairing pays it.
    fn payable_option(&self, required: &Value, option: &Value, account: &str, inputs: &Object) -> Option<Result<Payable, Refusal>> {
        let alone = required.as_object()?.clone().with("accepts", [option.clone()]).into();
        let (pairing, advertised) = registry::agreement_pairings().find_map(|pairing| Some((pairing, pairing.read(&alone).ok()?)))?;
        let timeout = option.get("maxTimeoutSeconds").and_then(Value::as_safe_unsigned).filter(|&seconds| seconds >= 1)?;
        if !pairing.public_proof() {
            return None;
        }
        let buyer = Buyer { account, inputs, now: self.env.now(), random: &|bytes| self.env.random(bytes) };
        let choice = pairing.choose(&advertised, &buyer);
        Some(choice.map(|choice| Payable { pairing, option: option.clone(), choice, timeout, h: advertised.h }))
    }
}

enum Unpaid {
    Recorded(Value),
    Required(Value),
}

enum Sent {
    Recorded(Value),
    Failed(Declined),
    Wait(Duration),
}

/// The payment request in a 402's header.
fn required<B>(response: &Response<B>) -> Option<Value> {
    let header = response.raw_header("payment-required").filter(|text| text.len() <= MAX_ANSWER)?;
    let value = json::parse_bytes(&encoding::from_base64(&header)?, json::MAX_DEPTH).ok()?;
    value.as_object()?;
    Some(value)
}

/// The receipt in a 200's body, reduced to its four members.
fn recorded(body: Option<&[u8]>, h: &Hash) -> Result<Value, Declined> {
    let body = body.ok_or_else(|| failed("The agreement receipt is larger than 65536 bytes."))?;
    let receipt = json::parse_bytes(body, json::MAX_DEPTH).ok().filter(|receipt| receipt.as_object().is_some());
    let receipt = receipt.ok_or_else(|| failed("The agreement URL answered 200 without a JSON receipt."))?;
    if !names_hash(&receipt, h) {
        return Err(failed("The agreement receipt names another ATR hash."));
    }
    if !is_receipt(&receipt, h) {
        return Err(failed("The agreement receipt does not state a recorded agreement."));
    }
    let members = ["atrHash", "agreed", "network", "transaction"];
    Ok(members.iter().fold(Object::new(), |kept, name| kept.with_some(*name, receipt.get(name))).into())
}

/// 1 to 9 digits of seconds, at least one second.
fn retry_after(text: &str) -> Option<Duration> {
    encoding::is_decimal(text, 9).then(|| text.parse().ok()).flatten().map(|seconds: u64| Duration::from_secs(seconds.max(1)))
}

fn same_hash(payable: &Payable, h: &Hash) -> Result<(), Declined> {
    if payable.h == *h {
        return Ok(());
    }
    Err(Declined::because(DeclineCode::HashMismatch, "The agreement payment request advertises another ATR hash."))
}

fn failed(sentence: &str) -> Declined {
    Declined::because(DeclineCode::AgreementFailed, sentence)
}

fn unreachable() -> Declined {
    failed("The agreement URL could not be reached.")
}

fn coded() -> Declined {
    failed("The agreement URL answered with a content coding other than identity.")
}

fn cancelled_before() -> Decline {
    failed("The exchange was cancelled before the agreement payment was sent.").into()
}

/// The work's result, or `None` once the token is cancelled, also while the work was ending.
async fn until_cancelled<T>(cancel: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    let done = cancel.run_until_cancelled(work).await?;
    (!cancel.is_cancelled()).then_some(done)
}
