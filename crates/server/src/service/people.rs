//! People: first passwords, signing in and out.

use control::{Instant, card_number, ids::UserId};
use store::{SessionRow, Tx, UserRow};

use super::{Inner, Service, secret};
use crate::{Person, Problem};

/// How long a link for a first password is good: 15 minutes.
pub(crate) const SETUP_SECONDS: u32 = 900;
/// How long a session lasts: 12 hours.
const SESSION_SECONDS: u32 = 43_200;
/// Shortest and longest password, in characters.
pub(crate) const PASSWORD_LENGTHS: std::ops::RangeInclusive<usize> = 12..=200;

/// What a person clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Pay.
    Approve,
    /// Do not pay.
    Decline,
}

/// What a link for a first password opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupView {
    /// The name that the person signs in with.
    pub login: String,
}

/// A session's secret, for the cookie alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(pub String);

impl std::fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionToken(…)")
    }
}

fn link_spent() -> Problem {
    Problem::new(410, "setup_link_spent", "This link was used, or its 15 minutes are over: ask for a new one with chancery admin user link.")
}

impl Service {
    /// What a link for a first password opens. The link stays good until the password is set.
    pub async fn setup_link(&self, token: &str) -> Result<SetupView, Problem> {
        let hash = secret::hash(token);
        self.read(move |_, reader, now| {
            let link = reader.setup_link(&hash)?.filter(|link| link.spent_at.is_none() && link.expires_at > now).ok_or_else(link_spent)?;
            Ok(SetupView { login: reader.user(&link.user)?.ok_or_else(link_spent)?.login })
        })
        .await
    }

    /// Sets the password, spends the link, ends other sessions, and signs in.
    pub async fn set_password(&self, token: &str, password: &str) -> Result<SessionToken, Problem> {
        if !PASSWORD_LENGTHS.contains(&password.chars().count()) {
            return Err(Problem::new(422, "password_length", "Choose a password of 12 to 200 characters."));
        }
        if card_number::is_in(password) {
            return Err(Problem::new(422, "card_number_rejected", "Choose a password that does not look like a card number."));
        }
        let link = secret::hash(token);
        // Looked at before the costly hash; the command looks again.
        self.setup_link(token).await?;
        let password = password.to_owned();
        let hashed = self.hash_alone(move || secret::hash_password(&password)).await.flatten();
        let password = hashed.ok_or_else(|| Problem::new(500, "internal", "The password could not be hashed: try again."))?;
        self.write(move |_, tx, now| {
            let user = tx.spend_setup_link(&link, now)?.ok_or_else(link_spent)?;
            tx.set_password(&user, &password)?;
            tx.delete_sessions_of(&user)?;
            start_session(tx, &user, now)
        })
        .await
    }

    /// Signs in. An unknown name and a wrong password are answered the same, in the same time.
    pub async fn sign_in(&self, login: &str, password: &str) -> Result<SessionToken, Problem> {
        let login = login.trim().to_lowercase();
        self.inner.tries.allow(&login, self.inner.now())?;
        let tried = login.clone();
        let found = self.read(move |_, reader, _| Ok(reader.user_by_login(&login)?)).await?;
        let (hash, password) = (found.as_ref().and_then(|user| user.password_hash.clone()), password.to_owned());
        let is_right = self.hash_alone(move || secret::is_password(&password, hash.as_deref())).await.unwrap_or(false);
        let wrong = || Problem::new(401, "sign_in_failed", "The name or the password is not right: try again, or ask for a new link.");
        let user: UserRow = found.filter(|_| is_right).ok_or_else(wrong)?;
        self.inner.tries.forget(&tried);
        self.write(move |_, tx, now| start_session(tx, &user.id, now)).await
    }

    /// Runs what hashes a password, with few others at once; `None` if it could not be run.
    async fn hash_alone<T: Send + 'static>(&self, hash: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let place = self.inner.hashing.clone().acquire_owned().await.ok()?;
        let (done, result) = tokio::sync::oneshot::channel();
        // A thread that ends: the runtime's own would each keep the memory that one hash took. The place is held until it is
        // done, also if nobody waits for it any more.
        let work = move || {
            let _ = done.send(hash());
            drop(place);
        };
        std::thread::Builder::new().name("password".to_owned()).spawn(work).ok()?;
        result.await.ok()
    }

    /// Signs out: the session is gone.
    pub async fn sign_out(&self, session: &str) -> Result<(), Problem> {
        let hash = secret::hash(session);
        self.write(move |_, tx, _| Ok(tx.delete_session(&hash)?)).await
    }

    /// Who is signed in.
    pub async fn person(&self, session: &str) -> Result<Person, Problem> {
        let hash = secret::hash(session);
        self.read(move |_, reader, now| {
            let signed_out = || Problem::new(401, "signed_out", "Sign in again.");
            let session = reader.session(&hash, now)?.ok_or_else(signed_out)?;
            let user = reader.user(&session.user)?.ok_or_else(signed_out)?;
            Ok(Person { user: user.id, org: user.org, login: user.login, csrf: session.csrf })
        })
        .await
    }
}

impl Inner {
    /// A link for a first password of a person: the path below the base. It is good once, for 15 minutes.
    pub(super) fn fresh_setup_link(&self, tx: &mut Tx<'_>, user: &UserId, now: Instant) -> Result<(String, Instant), Problem> {
        let token = secret::fresh_token();
        let expires_at = now.plus_seconds(SETUP_SECONDS);
        tx.insert_setup_link(&secret::hash(&token), user, expires_at)?;
        Ok((format!("{}/setup/{token}", self.base), expires_at))
    }
}

fn start_session(tx: &mut Tx<'_>, user: &UserId, now: Instant) -> Result<SessionToken, Problem> {
    tx.delete_expired_sessions(now)?;
    let token = secret::fresh_token();
    tx.insert_session(&SessionRow {
        token_hash: secret::hash(&token),
        user: user.clone(),
        csrf: secret::fresh_token(),
        created_at: now,
        expires_at: now.plus_seconds(SESSION_SECONDS),
    })?;
    Ok(SessionToken(token))
}
