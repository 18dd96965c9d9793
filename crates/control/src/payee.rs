//! Payees: who is to be paid, and the one key that each is known by.

mod domain;
mod name;
mod url;

use std::fmt;

pub use domain::Domain;
pub use name::Name;
pub use url::{HttpsUrl, MAX_URL};

/// A payee as a request names it: at least one of the three is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Payee {
    /// The name that people know it by.
    pub name: Option<Name>,
    /// Its domain.
    pub domain: Option<Domain>,
    /// Its id at a marketplace or payment provider, 1 to 128 visible ASCII characters; case counts.
    pub merchant_id: Option<Box<str>>,
}

/// What a payee is known by: the merchant id, else the domain, else the normalised name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PayeeKey {
    /// A merchant id.
    MerchantId(Box<str>),
    /// A domain.
    Domain(Domain),
    /// A normalised name.
    Name(Box<str>),
}

impl Payee {
    /// What a mandate and a page call it: the domain, else the merchant id, else the name as it was given.
    pub fn shown(&self) -> &str {
        let domain = self.domain.as_ref().map(Domain::as_str);
        domain.or(self.merchant_id.as_deref()).or_else(|| self.name.as_ref().map(Name::given)).unwrap_or_default()
    }

    /// Its members as they were given, the domain normalised.
    pub fn to_json(&self) -> lcp::Object {
        lcp::Object::new()
            .with_some("name", self.name.as_ref().map(Name::given))
            .with_some("domain", self.domain.as_ref().map(Domain::as_str))
            .with_some("merchant_id", self.merchant_id.as_deref())
    }

    /// The key; `None` for a payee without any member.
    pub fn key(&self) -> Option<PayeeKey> {
        let merchant_id = self.merchant_id.clone().map(PayeeKey::MerchantId);
        merchant_id
            .or_else(|| self.domain.clone().map(PayeeKey::Domain))
            .or_else(|| self.name.as_ref().map(|name| PayeeKey::Name(name.normal().into())))
    }
}

impl Payee {
    /// Who takes a mandate, and so whom a payment was made to: the domain, else the merchant id, else the normalised name. A
    /// merchant id that is well known makes no domain beside it any better known.
    pub fn taker(&self) -> Option<PayeeKey> {
        self.domain.clone().map(PayeeKey::Domain).or_else(|| self.key())
    }
}

/// `merchant:`, `domain:` or `name:`, and the key.
impl fmt::Display for PayeeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MerchantId(id) => write!(f, "merchant:{id}"),
            Self::Domain(domain) => write!(f, "domain:{domain}"),
            Self::Name(name) => write!(f, "name:{name}"),
        }
    }
}

/// Whether a text is a merchant id: 1 to 128 visible ASCII characters.
pub(crate) fn is_merchant_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_member_is_the_key() {
        let name = Name::new("Ream & Rule");
        let domain = Domain::parse("reamandrule.com").ok();
        let merchant_id = Some("acct_1".into());
        let key = |payee: Payee| payee.key().map(|key| key.to_string());
        assert_eq!(key(Payee { name: name.clone(), domain: domain.clone(), merchant_id }).unwrap(), "merchant:acct_1");
        assert_eq!(key(Payee { name: name.clone(), domain, merchant_id: None }).unwrap(), "domain:reamandrule.com");
        assert_eq!(key(Payee { name, domain: None, merchant_id: None }).unwrap(), "name:ream & rule");
        assert_eq!(key(Payee { name: None, domain: None, merchant_id: None }), None);
    }

    #[test]
    fn the_domain_takes_the_mandate() {
        let taker = |merchant_id: Option<&str>, domain: Option<&str>| {
            let payee = Payee {
                name: Name::new("Ream"),
                domain: domain.map(|domain| Domain::parse(domain).unwrap()),
                merchant_id: merchant_id.map(Into::into),
            };
            payee.taker().unwrap().to_string()
        };
        assert_eq!(taker(Some("acct_1"), Some("shop.example")), "domain:shop.example");
        assert_eq!(taker(Some("acct_1"), None), "merchant:acct_1");
        assert_eq!(taker(None, None), "name:ream");
    }
}
