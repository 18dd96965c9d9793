//! The pages as a browser gets them.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode, header},
};
use control::{
    Currency, Instant, Money,
    ids::{OrgId, UserId},
};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::{PageSettings, People, routes};
use crate::{
    Person, Problem,
    service::{ApprovalPage, SessionToken, SetupView, Verdict},
};

const ID: &str = "apv_01040g2081040g2081040g2081";
const CSRF: &str = "the-sessions-form-token";
const SESSION: &str = "chancery_session_8080=s3ss10n";
const SECRET: &str = "l1nk-s3cret";

/// One person, one approval, and what was done.
#[derive(Clone)]
struct Fake {
    page: ApprovalPage,
    refusal: Option<Problem>,
    done: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn note(&self, text: String) {
        self.done.lock().unwrap().push(text);
    }

    fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

impl People for Fake {
    async fn setup_link(&self, token: &str) -> Result<SetupView, Problem> {
        if token == SECRET { Ok(SetupView { login: "ada".into() }) } else { Err(Problem::not_found()) }
    }

    async fn set_password(&self, token: &str, password: &str) -> Result<SessionToken, Problem> {
        self.note(format!("set {token} {password}"));
        Ok(SessionToken("fr3sh".into()))
    }

    async fn sign_in(&self, login: &str, password: &str) -> Result<SessionToken, Problem> {
        match (login, password) {
            ("often", _) => Err(Problem::new(429, "rate_limited", "Too many tries.").retry_after(61)),
            ("ada", "correct horse battery") => Ok(SessionToken("fr3sh".into())),
            _ => Err(Problem::unauthenticated()),
        }
    }

    async fn sign_out(&self, session: &str) -> Result<(), Problem> {
        self.note(format!("signed out {session}"));
        Ok(())
    }

    async fn person(&self, session: &str) -> Result<Person, Problem> {
        if session != "s3ss10n" {
            return Err(Problem::unauthenticated());
        }
        Ok(Person { user: UserId::of([1; 16]), org: OrgId::of([1; 16]), login: "ada".into(), csrf: CSRF.into() })
    }

    async fn approval_page(&self, _: &Person, id: &str) -> Result<ApprovalPage, Problem> {
        if id == ID { Ok(self.page.clone()) } else { Err(Problem::not_found()) }
    }

    async fn decide_approval(&self, person: &Person, id: &str, digest: &str, verdict: Verdict) -> Result<ApprovalPage, Problem> {
        if let Some(problem) = &self.refusal {
            return Err(problem.clone());
        }
        self.note(format!("{verdict:?} {id} {digest} by {}", person.login));
        self.approval_page(person, id).await
    }

    async fn approvals_waiting(&self, _: &Person) -> Result<Vec<ApprovalPage>, Problem> {
        Ok(if self.page.state == "pending" { vec![self.page.clone()] } else { vec![] })
    }
}

fn sample() -> ApprovalPage {
    let now = Instant::parse("2026-11-30T22:15:00Z").unwrap();
    ApprovalPage {
        id: ID.into(),
        state: "pending".into(),
        digest: "sha256:9b0c7a55".into(),
        amount: Money::new(129_000, Currency::iso("EUR").unwrap()),
        payee_name: Some("Ream & Rule".into()),
        payee_domain: Some(("shop.reamandrule.com".into(), "reamandrule.com".into())),
        merchant_id: None,
        purpose: "printer paper".into(),
        intent: Some("what we always take".into()),
        agent: ("Office assistant".into(), "agt_09144gj289144gj289144gj289".into()),
        rules: vec![("approval_required".into(), "The amount is above 100.00 EUR.".into())],
        merchant_facts: vec![
            ("paid_before".into(), "SKIP".into(), "Never paid before.".into()),
            ("payee_domain".into(), "PASS".into(), "The checkout is on its domain.".into()),
            ("payee_looks".into(), "FAIL".into(), "It looks like another.".into()),
        ],
        evidence: vec![("quote".into(), "Quote 1187".into(), "sha256:4d0e41a3".into())],
        checkout: Some(("ucp".into(), "https://shop.reamandrule.com/checkout/1".into())),
        risk: (12, vec!["First payment".into()]),
        policy: Some(("Office purchases".into(), 3)),
        asked_at: now.minus_seconds(60),
        expires_at: now.plus_seconds(260),
        now,
        decided: None,
        outcome: None,
        record_id: "rec_01040g2081040g2081040g2081".into(),
    }
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn location(&self) -> &str {
        self.headers.get(header::LOCATION).map_or("", |value| value.to_str().unwrap())
    }

    fn cookies(&self) -> Vec<&str> {
        self.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect()
    }

    /// Whether the page says this, in a person's eyes: as escaped text.
    fn says(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    fn title(&self) -> &str {
        self.text.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default()
    }
}

struct Site {
    fake: Fake,
    router: Router,
}

impl Site {
    fn new(page: ApprovalPage) -> Self {
        Self::at("http://127.0.0.1:8080", page, None)
    }

    fn at(public_url: &str, page: ApprovalPage, refusal: Option<Problem>) -> Self {
        let fake = Fake { page, refusal, done: Arc::default() };
        Self { router: routes(fake.clone(), PageSettings { public_url: public_url.into(), sandbox: true }), fake }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    async fn get(&self, path: &str, cookies: &str) -> Answer {
        self.send(Request::get(path).header(header::COOKIE, cookies).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, cookies: &str, form: &str) -> Answer {
        let request = Request::post(path)
            .header(header::COOKIE, cookies)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ORIGIN, "null")
            .header("sec-fetch-site", "same-origin");
        self.send(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    async fn approval(&self) -> Answer {
        self.get(&format!("/approve/{ID}"), SESSION).await
    }
}

/// The approval's page for a changed sample.
async fn page(change: impl FnOnce(&mut ApprovalPage)) -> Answer {
    let mut sample = sample();
    change(&mut sample);
    Site::new(sample).approval().await
}

#[tokio::test]
async fn the_page_answers_everything_in_order() {
    let page = page(|_| ()).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.title(), "Needs you: €1,290.00 EUR to Ream &#38; Rule · Chancery");
    let mut rest = &*page.text;
    for text in [
        "Sandbox:",
        "Needs you",
        "Approve this payment?",
        "€1,290.00",
        "EUR",
        "Ream &#38; Rule",
        "shop.<strong>reamandrule.com</strong>",
        "First contact:",
        "In the agent’s words",
        "printer paper",
        "What you wanted, as the agent says",
        "what we always take",
        "Office assistant",
        "agt_09144gj289144gj289144gj289",
        "The amount is above 100.00 EUR.",
        "approval_required",
        "Office purchases",
        "version 3",
        "SKIP",
        "Paid before",
        "PASS",
        "Checkout on its domain",
        "FAIL",
        "It looks like another.",
        "UCP",
        "https://shop.reamandrule.com/checkout/1",
        "Quote 1187",
        "sha256:4d0e41a3",
        "12 of 100",
        "If you do nothing",
        "Nothing is paid.",
        "datetime=\"2026-11-30T22:19:20.000Z\" title=\"2026-11-30T22:19:20.000Z\">30 Nov 2026, 22:19 UTC",
        "in 4 minutes",
        "Decline",
        "Approve",
    ] {
        let place = rest.find(text).unwrap_or_else(|| panic!("{text} is missing, or stands too early"));
        rest = &rest[place + text.len()..];
    }
}

#[tokio::test]
async fn both_buttons_bind_to_what_was_shown() {
    let page = page(|_| ()).await;
    let forms: Vec<_> = page.text.split(&format!("<form method=\"post\" action=\"/approve/{ID}\">")).skip(1).collect();
    assert_eq!(forms.len(), 2);
    for (form, verdict) in forms.iter().zip(["decline", "approve"]) {
        assert!(form.contains(&format!("name=\"csrf\" value=\"{CSRF}\"")));
        assert!(form.contains("name=\"digest\" value=\"sha256:9b0c7a55\""));
        assert!(form.contains(&format!("name=\"verdict\" value=\"{verdict}\"")));
    }
    assert!(!page.text.contains("autofocus"));
}

#[tokio::test]
async fn words_of_others_stay_words() {
    let evil = "<a href=\"https://evil.example\">pay</a> https://evil.example <script>x</script>\" onload='x' \u{202E}txt\0";
    let page = page(|page| {
        page.purpose = evil.into();
        page.intent = Some(evil.into());
        page.payee_name = Some(evil.into());
        page.payee_domain = Some((evil.into(), evil.into()));
        page.merchant_id = Some(evil.into());
        page.agent.0 = evil.into();
        page.merchant_facts = vec![(evil.into(), evil.into(), evil.into())];
        page.evidence = vec![(evil.into(), evil.into(), evil.into())];
        page.checkout = Some((evil.into(), evil.into()));
        page.policy = Some((evil.into(), 1));
        page.rules = vec![(evil.into(), evil.into())];
        page.risk.1 = vec![evil.into()];
    })
    .await;
    assert!(!page.text.contains("evil.example\">"), "an attribute was broken out of");
    for markup in ["<a href=\"https", "<script>", "\u{202E}", "\0", "' onload", "\" onload"] {
        assert!(!page.text.contains(markup), "{markup:?}");
    }
    let links: Vec<_> = page.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.iter().all(|link| link.starts_with('/') || *link == "#main"), "{links:?}");
    assert!(page.says("⟨U+202E⟩txt⟨U+0000⟩"));
}

#[tokio::test]
async fn a_long_purpose_is_bounded_and_whole() {
    let purpose = format!("{}the end", "paper ".repeat(300));
    let page = page(|page| page.purpose = purpose.clone()).await;
    let (first, rest) = page.text.split_once("<details class=\"whole\">").unwrap();
    assert!(!first.contains("the end") && first.contains("paper…"));
    assert!(rest.contains("Read all 1,807 characters of the purpose") && rest.contains(&purpose));
}

#[tokio::test]
async fn names_that_are_not_ascii_show_what_they_are() {
    let page = page(|page| {
        page.payee_name = Some("Pаypal".into());
        page.payee_domain = Some(("kasse.xn--bcher-kva.example".into(), "xn--bcher-kva.example".into()));
    })
    .await;
    let unicode = self::page(|page| page.payee_domain = Some(("kasse.bücher.example".into(), "xn--bcher-kva.example".into()))).await;
    assert!(unicode.says("kasse.<strong>bücher.example</strong>") && unicode.says("In ASCII: <code>kasse.xn--bcher-kva.example</code>"));
    assert!(page.says("In ASCII: <bdi><code>P&#60;U+0430&#62;ypal</code></bdi>"));
    assert!(page.says("kasse.<strong>bücher.example</strong>") && page.says("In ASCII: <code>kasse.xn--bcher-kva.example</code>"));
}

#[tokio::test]
async fn first_contact_is_said_only_then() {
    let known = |state: &'static str| page(move |page| page.merchant_facts = vec![("paid_before".into(), state.into(), "…".into())]);
    assert!(!known("PASS").await.says("First contact"));
    assert!(known("FAIL").await.says("First contact"));
}

#[tokio::test]
async fn each_state_has_its_words() {
    for (state, word, sentence) in [
        ("approved", "Approved", "The payment was approved."),
        ("declined", "Declined", "The payment was declined. Nothing is paid, and the agent is told so."),
        ("expired", "Expired", "Nobody answered in time."),
        ("refused", "Denied", "decided again at the click, and denied. Nothing is paid."),
        ("superseded", "Question", "more must be known first."),
        ("void", "Withdrawn", "The request was withdrawn before anybody answered."),
        ("anything else", "Withdrawn", "Nothing is paid by it"),
    ] {
        let page = page(|page| page.state = state.into()).await;
        assert!(page.title().starts_with(&format!("{word}: €1,290.00 EUR")), "{}", page.title());
        assert!(page.says(sentence) && page.says("rec_01040g2081040g2081040g2081"), "{state}");
        assert!(!page.says("verdict"), "{state} can still be answered");
    }
    let page = page(|page| {
        page.state = "approved".into();
        page.decided = Some(("ada".into(), page.now));
        page.outcome = Some("The agent has a mandate.".into());
    })
    .await;
    assert!(page.says("Approved by <bdi>you</bdi>") && page.says("The payment was approved.") && page.says("The agent has a mandate."));
}

#[tokio::test]
async fn what_time_ended_cannot_be_answered() {
    let page = page(|page| page.expires_at = page.now).await;
    assert!(page.title().starts_with("Expired: ") && !page.says("verdict"));
}

#[tokio::test]
async fn amounts_are_written_as_the_reader_does() {
    let request = Request::get(format!("/approve/{ID}")).header(header::COOKIE, SESSION).header(header::ACCEPT_LANGUAGE, "de-DE,de;q=0.9");
    let page = Site::new(sample()).send(request.body(Body::empty()).unwrap()).await;
    assert!(page.says("<data class=\"amount large\" value=\"1290.00\">1.290,00\u{A0}€ "));
}

#[tokio::test]
async fn a_click_decides_once_and_leads_back() {
    for (verdict, name) in [("approve", "Approve"), ("decline", "Decline")] {
        let site = Site::new(sample());
        let answer = site.post(&format!("/approve/{ID}"), SESSION, &format!("csrf={CSRF}&digest=sha256%3A9b0c7a55&verdict={verdict}")).await;
        assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, &*format!("/approve/{ID}")));
        assert_eq!(site.fake.done(), [format!("{name} {ID} sha256:9b0c7a55 by ada")]);
    }
}

#[tokio::test]
async fn forged_clicks_do_nothing() {
    let site = Site::new(sample());
    let path = format!("/approve/{ID}");
    let form = format!("csrf={CSRF}&digest=d&verdict=approve");
    for (body, status) in [
        ("digest=d&verdict=approve".to_owned(), 403),
        ("csrf=&digest=d&verdict=approve".to_owned(), 403),
        ("csrf=other&digest=d&verdict=approve".to_owned(), 403),
        (format!("csrf={CSRF}&digest=d"), 400),
        (format!("csrf={CSRF}&digest=d&verdict=pay"), 400),
        (format!("{form}&verdict=decline"), 400),
        (format!("{form}&amount=1"), 400),
    ] {
        assert_eq!(site.post(&path, SESSION, &body).await.status, status, "{body}");
    }
    for (name, value) in [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")] {
        let request = Request::post(&path).header(header::COOKIE, SESSION).header(name, value).body(Body::from(form.clone())).unwrap();
        assert_eq!(site.send(request).await.status, 403, "{name}: {value}");
    }
    let unsigned = site.post(&path, "", &form).await;
    assert_eq!((unsigned.status, unsigned.location()), (StatusCode::SEE_OTHER, &*format!("/sign-in?next=%2Fapprove%2F{ID}")));
    let long = site.post(&path, SESSION, &format!("{form}{}", "a".repeat(20_000))).await;
    assert_eq!(long.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(site.fake.done(), [""; 0]);
}

#[tokio::test]
async fn a_refused_click_shows_what_is_so_now() {
    let refusal = Problem::new(409, "digest_differs", "The payee has changed: read it again.");
    let site = Site::at("http://127.0.0.1:8080", sample(), Some(refusal));
    let answer = site.post(&format!("/approve/{ID}"), SESSION, &format!("csrf={CSRF}&digest=old&verdict=approve")).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.says("Your click did nothing.") && answer.says("The payee has changed: read it again.") && answer.says("sha256:9b0c7a55"));
}

#[tokio::test]
async fn an_unknown_approval_is_the_same_as_anothers() {
    let site = Site::new(sample());
    let unknown = site.get("/approve/apv_07zzzzzzzzzzzzzzzzzzzzzzzz", SESSION).await;
    let malformed = site.get("/approve/..%2Fapprovals", SESSION).await;
    let decided = site.post("/approve/apv_other", SESSION, &format!("csrf={CSRF}&digest=d&verdict=approve")).await;
    assert_eq!((unknown.status, malformed.status), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_eq!(unknown.text, malformed.text);
    assert!(decided.status.is_redirection() || decided.status == 404);
    assert!(unknown.says("There is nothing here for you"));
}

#[tokio::test]
async fn every_answer_is_kept_to_itself() {
    let site = Site::new(sample());
    for (path, cookies) in
        [("/sign-in", ""), ("/approvals", SESSION), ("/", ""), ("/approve/x", SESSION), ("/setup/wrong", ""), ("/assets/x.css", "")]
    {
        let answer = site.get(path, cookies).await;
        let said = |name: &str| answer.headers.get(name).map_or("", |value| value.to_str().unwrap());
        assert_eq!(
            said("content-security-policy"),
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            "{path}"
        );
        assert_eq!(
            (said("cache-control"), said("referrer-policy"), said("x-content-type-options")),
            ("no-store", "no-referrer", "nosniff"),
            "{path}"
        );
        assert!(
            !answer.says("style=\"") && !answer.text.split(" on").skip(1).any(|rest| rest.split(' ').next().is_some_and(|word| word.contains('='))),
            "{path}"
        );
        assert!(!answer.says("s3ss10n"), "{path}");
    }
}

#[tokio::test]
async fn assets_are_named_by_their_content() {
    let site = Site::new(sample());
    let page = site.approval().await;
    for (marker, media_type) in [("rel=\"stylesheet\" href=\"", "text/css; charset=utf-8"), ("<script src=\"", "text/javascript; charset=utf-8")] {
        let path = page.text.split(marker).nth(1).unwrap().split('"').next().unwrap();
        let asset = site.get(path, "").await;
        assert_eq!((asset.status, &asset.headers[header::CONTENT_TYPE]), (StatusCode::OK, &header::HeaderValue::from_static(media_type)));
        assert_eq!(asset.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    }
    assert_eq!(site.get("/assets/pages.css", "").await.status, StatusCode::NOT_FOUND);
}

/// The cookie and the token of a form before a session.
async fn form_token(site: &Site, path: &str, cookies: &str) -> (String, String) {
    let answer = site.get(path, cookies).await;
    let cookie = answer.cookies()[0].split(';').next().unwrap().to_owned();
    let token = answer.text.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    (cookie, token)
}

#[tokio::test]
async fn signing_in() {
    let site = Site::new(sample());
    let (cookie, token) = form_token(&site, "/sign-in", "").await;
    let right = format!("csrf={token}&login=ada&password=correct+horse+battery");
    let answer = site.post("/sign-in", &cookie, &format!("{right}&next=%2Fapprove%2F{ID}")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, &*format!("/approve/{ID}")));
    assert_eq!(answer.cookies(), ["chancery_session_8080=fr3sh; Path=/; HttpOnly; SameSite=Lax"]);
    for next in ["https://evil.example", "//evil.example", "/\\evil.example", "/approve/a/../../b", "%0d%0ax: y"] {
        assert_eq!(site.post("/sign-in", &cookie, &format!("{right}&next={next}")).await.location(), "/approvals", "{next}");
    }
    // Without the cookie, or with another token, nobody is signed in.
    for (cookies, body) in [("", right.clone()), (&*cookie, right.replace(&token, "0"))] {
        let answer = site.post("/sign-in", cookies, &body).await;
        assert_eq!((answer.status, answer.cookies().len()), (StatusCode::FORBIDDEN, 0));
    }
}

#[tokio::test]
async fn a_login_that_is_not_known_reads_like_a_wrong_password() {
    let site = Site::new(sample());
    let (cookie, token) = form_token(&site, "/sign-in", "").await;
    let known = site.post("/sign-in", &cookie, &format!("csrf={token}&login=ada&password=wrong")).await;
    let unknown = site.post("/sign-in", &cookie, &format!("csrf={token}&login=eve&password=wrong")).await;
    assert_eq!((known.status, unknown.status), (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED));
    assert_eq!(known.text.replace("\"ada\"", "\"eve\""), unknown.text);
    assert!(known.says("Login or password is not right."));
    let often = site.post("/sign-in", &cookie, &format!("csrf={token}&login=often&password=x")).await;
    assert_eq!((often.status, &often.headers[header::RETRY_AFTER]), (StatusCode::TOO_MANY_REQUESTS, &header::HeaderValue::from_static("61")));
    assert!(often.says("Wait 2 minutes"));
    let card = site.post("/sign-in", &cookie, &format!("csrf={token}&login=4242424242424242&password=x")).await;
    assert!(!card.says("4242"));
}

#[tokio::test]
async fn signing_out() {
    let site = Site::new(sample());
    assert_eq!(site.post("/sign-out", SESSION, "csrf=wrong").await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.fake.done(), [""; 0]);
    let answer = site.post("/sign-out", SESSION, &format!("csrf={CSRF}")).await;
    assert_eq!((answer.location(), site.fake.done()), ("/sign-in", vec!["signed out s3ss10n".to_owned()]));
    assert_eq!(answer.cookies(), ["chancery_session_8080=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"]);
}

#[tokio::test]
async fn the_first_password_spends_the_link() {
    let site = Site::at("https://pay.example.com", sample(), None);
    let opened = site.get(&format!("/setup/{SECRET}"), "").await;
    assert_eq!((opened.status, opened.location()), (StatusCode::SEE_OTHER, "/setup"));
    let link = format!("__Host-chancery_setup={SECRET}");
    assert_eq!(opened.cookies(), [format!("{link}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=900")]);
    let shown = site.get("/setup", &link).await;
    assert!(shown.says("value=\"ada\"") && !shown.says(SECRET));

    let (cookie, token) = form_token(&site, "/setup", &link).await;
    let cookies = format!("{link}; {cookie}");
    let set = |password: &str, again: &str| format!("csrf={token}&password={password}&again={again}");
    for (password, again, says) in [
        ("tiny", "tiny", "too short"),
        ("correct+horse+battery", "correct+horse+batterie", "not the same"),
        ("4242424242424242", "4242424242424242", "card number"),
    ] {
        let answer = site.post("/setup", &cookies, &set(password, again)).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.says(says) && answer.says("aria-invalid=\"true\"") && !answer.says(password) && !answer.says(SECRET), "{says}");
    }
    assert_eq!(site.post("/setup", &cookie, &set("correct+horse+battery", "correct+horse+battery")).await.status, StatusCode::GONE);
    assert_eq!(site.post("/setup", &link, &set("correct+horse+battery", "correct+horse+battery")).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.fake.done(), [""; 0]);

    let answer = site.post("/setup", &cookies, &set("correct+horse+battery", "correct+horse+battery")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/approvals"));
    assert_eq!(
        answer.cookies(),
        [
            "__Host-chancery_session=fr3sh; Path=/; HttpOnly; SameSite=Lax; Secure",
            "__Host-chancery_setup=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0"
        ]
    );
    assert_eq!(site.fake.done(), [format!("set {SECRET} correct horse battery")]);
    assert_eq!(site.get("/setup/wrong", "").await.status, StatusCode::GONE);
}

#[tokio::test]
async fn what_waits() {
    let site = Site::new(sample());
    let some = site.get("/approvals", SESSION).await;
    assert!(some.title().starts_with("1 payment to decide") && some.says(&format!("href=\"/approve/{ID}\"")) && some.says("in 4 minutes"));
    let none = Site::new(ApprovalPage { state: "approved".into(), ..sample() }).get("/approvals", SESSION).await;
    assert!(none.says("Nothing waits for you") && none.says("When an agent asks for a payment"));
    for (path, cookies, location) in
        [("/", SESSION, "/approvals"), ("/", "", "/sign-in"), ("/approvals", "", "/sign-in"), ("/sign-in", SESSION, "/approvals")]
    {
        assert_eq!(site.get(path, cookies).await.location(), location, "{path}");
    }
}
