//! The pages that people use: the first password, signing in, and approvals.
//!
//! They are rendered on the server, work without script, and hold no secret in their text. What they ask of the
//! application is [`People`]; [`router`] serves them for [`Service`].

mod approval;
mod approvals;
mod assets;
mod cookies;
mod form;
mod format;
mod frame;
mod headers;
mod people;
mod problem;
mod setup;
mod sign_in;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    http::HeaderMap,
    middleware,
    response::Response,
    routing::{get, post},
};

pub use self::people::People;
use self::{cookies::Cookies, frame::Frame};
use crate::{Person, Problem, Service};

/// A form of ours is far smaller.
const MAX_FORM: usize = 16 * 1024;

/// What the pages must know of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSettings {
    /// Where people reach the server, such as `https://pay.example.com` or `http://127.0.0.1:8080`. Cookies are `Secure`
    /// where it is https.
    pub public_url: String,
    /// Whether no real money moves; every page says so.
    pub sandbox: bool,
}

/// The pages for the application.
pub fn router(service: Service, settings: PageSettings) -> Router {
    routes(service, settings)
}

/// The pages for whatever answers them.
pub fn routes<P: People>(people: P, settings: PageSettings) -> Router {
    let desk = Desk { people, site: Arc::new(Site { cookies: Cookies::of(&settings.public_url), settings }) };
    Router::new()
        .route("/", get(home::<P>))
        .route("/setup/{token}", get(setup::open::<P>))
        .route("/setup", get(setup::show::<P>).post(setup::set::<P>))
        .route("/sign-in", get(sign_in::show::<P>).post(sign_in::enter::<P>))
        .route("/sign-out", post(sign_in::leave::<P>))
        .route("/approvals", get(approvals::show::<P>))
        .route("/approve/{id}", get(approval::show::<P>).post(approval::decide::<P>))
        .route("/assets/{name}", get(assets::serve))
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .layer(middleware::map_response(headers::protect))
        .with_state(desk)
}

/// What every handler works with.
#[derive(Clone)]
struct Desk<P> {
    people: P,
    site: Arc<Site>,
}

/// What does not change while the server runs.
struct Site {
    settings: PageSettings,
    cookies: Cookies,
}

impl<P: People> Desk<P> {
    /// Who is signed in; `None` if nobody is.
    async fn person(&self, headers: &HeaderMap) -> Result<Option<Person>, Problem> {
        let Some(session) = self.site.cookies.session(headers) else { return Ok(None) };
        match self.people.person(&session).await {
            Ok(person) => Ok(Some(person)),
            Err(problem) if problem.status == 401 => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// What stands around a page.
    fn frame(&self, headers: &HeaderMap, person: Option<&Person>) -> Frame {
        Frame::new(headers, self.site.settings.sandbox, person)
    }
}

/// The start: what waits, or where to sign in.
async fn home<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap) -> Response {
    match desk.person(&headers).await {
        Ok(Some(_)) => headers::see_other("/approvals"),
        Ok(None) => headers::see_other("/sign-in"),
        Err(problem) => problem::page(&desk.frame(&headers, None), &problem),
    }
}
