//! Organizations, the people in them, and how people sign in.

use control::{
    Instant,
    ids::{OrgId, UserId},
};
use rusqlite::params;

use crate::{Reader, StoreError, Tx, sql::Columns};

/// The SHA-256 of a link's or a session's secret: the secret itself is never stored.
pub type TokenHash = [u8; 32];

/// An organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrgRow {
    /// Its id.
    pub id: OrgId,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Instant,
}

/// A person.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRow {
    /// Its id.
    pub id: UserId,
    /// The organization.
    pub org: OrgId,
    /// What the person signs in with, in lower case; unique in the installation.
    pub login: String,
    /// What people call the person.
    pub name: String,
    /// `owner` or `approver`.
    pub role: String,
    /// The password's Argon2 hash, once there is one.
    pub password_hash: Option<String>,
    /// When the person was added.
    pub created_at: Instant,
}

/// A link that sets a password, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupLinkRow {
    /// The person.
    pub user: UserId,
    /// Good before then.
    pub expires_at: Instant,
    /// When it was used.
    pub spent_at: Option<Instant>,
}

/// A person who is signed in.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The hash of the cookie's secret.
    pub token_hash: TokenHash,
    /// The person.
    pub user: UserId,
    /// What a form must send back.
    pub csrf: String,
    /// Since when.
    pub created_at: Instant,
    /// Good before then.
    pub expires_at: Instant,
}

const ORG: &str = "SELECT id, name, created_at FROM orgs";
const USER: &str = "SELECT u.id, u.org, u.login, u.name, u.role, c.data, u.created_at FROM users u
    LEFT JOIN credentials c ON c.user_id = u.id AND c.kind = 'password' AND c.name = ''";

fn org(row: &Columns<'_>) -> rusqlite::Result<OrgRow> {
    Ok(OrgRow { id: row.id(0)?, name: row.text(1)?, created_at: row.at(2)? })
}

fn user(row: &Columns<'_>) -> rusqlite::Result<UserRow> {
    Ok(UserRow {
        id: row.id(0)?,
        org: row.id(1)?,
        login: row.text(2)?,
        name: row.text(3)?,
        role: row.text(4)?,
        password_hash: row.get(5)?,
        created_at: row.at(6)?,
    })
}

impl Reader<'_> {
    /// An organization.
    pub fn org(&self, id: &OrgId) -> Result<Option<OrgRow>, StoreError> {
        self.one(&format!("{ORG} WHERE id = $1"), [id.as_str()], org)
    }

    /// Every organization, the oldest first.
    pub fn orgs(&self) -> Result<Vec<OrgRow>, StoreError> {
        self.all(&format!("{ORG} ORDER BY created_at, id"), [], org)
    }

    /// A person.
    pub fn user(&self, id: &UserId) -> Result<Option<UserRow>, StoreError> {
        self.one(&format!("{USER} WHERE u.id = $1"), [id.as_str()], user)
    }

    /// The person who signs in with that name, in any case.
    pub fn user_by_login(&self, login: &str) -> Result<Option<UserRow>, StoreError> {
        self.one(&format!("{USER} WHERE u.login = $1"), [login.to_lowercase()], user)
    }

    /// The organization's people, by login.
    pub fn users(&self, org: &OrgId) -> Result<Vec<UserRow>, StoreError> {
        self.all(&format!("{USER} WHERE u.org = $1 ORDER BY u.login"), [org.as_str()], user)
    }

    /// The link whose secret has that hash, spent and expired ones too.
    pub fn setup_link(&self, token: &TokenHash) -> Result<Option<SetupLinkRow>, StoreError> {
        self.one("SELECT user_id, expires_at, spent_at FROM setup_links WHERE token_hash = $1", params![&token[..]], |row| {
            Ok(SetupLinkRow { user: row.id(0)?, expires_at: row.at(1)?, spent_at: row.opt_at(2)? })
        })
    }

    /// The session whose secret has that hash, if it has not expired.
    pub fn session(&self, token: &TokenHash, now: Instant) -> Result<Option<SessionRow>, StoreError> {
        const SQL: &str = "SELECT token_hash, user_id, csrf, created_at, expires_at FROM sessions WHERE token_hash = $1 AND expires_at > $2";
        self.one(SQL, params![&token[..], now.millis()], |row| {
            Ok(SessionRow { token_hash: row.get(0)?, user: row.id(1)?, csrf: row.text(2)?, created_at: row.at(3)?, expires_at: row.at(4)? })
        })
    }
}

impl Tx<'_> {
    /// Adds an organization.
    pub fn insert_org(&mut self, org: &OrgRow) -> Result<(), StoreError> {
        let row = params![org.id.as_str(), org.name, org.created_at.millis()];
        self.run("INSERT INTO orgs (id, name, created_at) VALUES ($1, $2, $3)", row).map(drop)
    }

    /// Adds a person without a password, the login in lower case; `false`, and nothing happens, if the login is taken.
    pub fn insert_user(&mut self, user: &UserRow) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO users (id, org, login, name, role, created_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (login) DO NOTHING";
        let row = params![user.id.as_str(), user.org.as_str(), user.login.to_lowercase(), user.name, user.role, user.created_at.millis()];
        self.run(SQL, row).map(|added| added == 1)
    }

    /// Sets the hash of a person's password; `false` if there is no such person.
    pub fn set_password(&mut self, user: &UserId, password_hash: &str) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO credentials (user_id, kind, name, data) VALUES ($1, 'password', '', $2)
            ON CONFLICT (user_id, kind, name) DO UPDATE SET data = excluded.data";
        if self.user(user)?.is_none() {
            return Ok(false);
        }
        self.run(SQL, [user.as_str(), password_hash]).map(|set| set == 1)
    }

    /// Adds a link that sets that person's password.
    pub fn insert_setup_link(&mut self, token: &TokenHash, user: &UserId, expires_at: Instant) -> Result<(), StoreError> {
        let row = params![&token[..], user.as_str(), expires_at.millis()];
        self.run("INSERT INTO setup_links (token_hash, user_id, expires_at) VALUES ($1, $2, $3)", row).map(drop)
    }

    /// Spends a link and gives its person; `None` if there is none, or it was spent or has expired.
    pub fn spend_setup_link(&mut self, token: &TokenHash, now: Instant) -> Result<Option<UserId>, StoreError> {
        const SQL: &str = "UPDATE setup_links SET spent_at = $1 WHERE token_hash = $2 AND spent_at IS NULL AND expires_at > $1";
        let spent = self.run(SQL, params![now.millis(), &token[..]])?;
        if spent == 0 { Ok(None) } else { Ok(self.setup_link(token)?.map(|link| link.user)) }
    }

    /// Adds a session.
    pub fn insert_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO sessions (token_hash, user_id, csrf, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)";
        let row = params![&session.token_hash[..], session.user.as_str(), session.csrf, session.created_at.millis(), session.expires_at.millis()];
        self.run(SQL, row).map(drop)
    }

    /// Ends a session.
    pub fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError> {
        self.run("DELETE FROM sessions WHERE token_hash = $1", params![&token[..]]).map(drop)
    }

    /// Forgets the sessions that have expired, and gives their number.
    pub fn delete_expired_sessions(&mut self, now: Instant) -> Result<usize, StoreError> {
        self.run("DELETE FROM sessions WHERE expires_at <= $1", [now.millis()])
    }

    /// Ends every session of a person, and gives their number.
    pub fn delete_sessions_of(&mut self, user: &UserId) -> Result<usize, StoreError> {
        self.run("DELETE FROM sessions WHERE user_id = $1", [user.as_str()])
    }
}

impl std::fmt::Debug for UserRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRow").field("id", &self.id).field("org", &self.org).field("role", &self.role).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SessionRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionRow").field("user", &self.user).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, at, bits, org, org_row};

    fn row(number: u64, login: &str) -> UserRow {
        UserRow {
            id: UserId::of(bits(number)),
            org: org(),
            login: login.into(),
            name: "Ann".into(),
            role: "owner".into(),
            password_hash: None,
            created_at: at(1),
        }
    }

    #[test]
    fn a_login_is_taken_once_in_any_case() {
        alone(|tx| {
            assert_eq!(tx.org(&org()), Ok(Some(org_row())));
            assert_eq!((tx.insert_user(&row(1, "Ann@Example.com")), tx.insert_user(&row(2, "ann@example.COM"))), (Ok(true), Ok(false)));
            let mut ann = row(1, "ann@example.com");
            assert_eq!(tx.user_by_login("ANN@example.com"), Ok(Some(ann.clone())));
            assert_eq!((tx.set_password(&ann.id, "hash"), tx.set_password(&row(2, "").id, "hash")), (Ok(true), Ok(false)));
            ann.password_hash = Some("hash".into());
            assert_eq!(tx.user(&ann.id), Ok(Some(ann.clone())));
            assert_eq!(tx.users(&org()), Ok(vec![ann.clone()]));
            assert!(!format!("{ann:?}").contains("hash"));
        });
    }

    #[test]
    fn a_link_is_spent_once_and_in_time() {
        alone(|tx| {
            let ann = row(1, "ann");
            tx.insert_user(&ann).unwrap();
            for token in [[1; 32], [2; 32]] {
                tx.insert_setup_link(&token, &ann.id, at(10)).unwrap();
            }
            assert_eq!(tx.spend_setup_link(&[1; 32], at(9)), Ok(Some(ann.id.clone())));
            assert_eq!(tx.spend_setup_link(&[1; 32], at(9)), Ok(None));
            assert_eq!(tx.spend_setup_link(&[2; 32], at(10)), Ok(None));
            assert_eq!(tx.spend_setup_link(&[3; 32], at(9)), Ok(None));
            assert_eq!(tx.setup_link(&[1; 32]), Ok(Some(SetupLinkRow { user: ann.id, expires_at: at(10), spent_at: Some(at(9)) })));
        });
    }

    #[test]
    fn sessions_end() {
        alone(|tx| {
            let ann = row(1, "ann");
            tx.insert_user(&ann).unwrap();
            let session = |token: u8| SessionRow {
                token_hash: [token; 32],
                user: ann.id.clone(),
                csrf: "csrf".into(),
                created_at: at(0),
                expires_at: at(i64::from(token)),
            };
            for token in 1..=5 {
                tx.insert_session(&session(token)).unwrap();
            }
            assert_eq!((tx.session(&[3; 32], at(2)), tx.session(&[3; 32], at(3))), (Ok(Some(session(3))), Ok(None)));
            assert_eq!(tx.delete_expired_sessions(at(2)), Ok(2));
            tx.delete_session(&[3; 32]).unwrap();
            assert_eq!(tx.session(&[3; 32], at(0)), Ok(None));
            assert_eq!(tx.delete_sessions_of(&ann.id), Ok(2));
            assert!(!format!("{:?}", session(1)).contains("csrf"));
        });
    }
}
