//! `payees`: who may be paid, who may not, and what to do with the others.

use std::collections::{HashMap, HashSet};

use super::MAX_ENTRIES;
use crate::{
    Fault, FaultCode,
    confusable::skeleton,
    fault::codes,
    payee::{Domain, Name, Payee, PayeeKey, is_merchant_id},
    read::Field,
};

/// The payees that a policy allows and denies.
#[derive(Clone, Debug)]
pub struct Payees {
    /// Those that may be paid.
    pub allow: PayeeList,
    /// Those that may not.
    pub deny: PayeeList,
    /// What to do with one on neither list.
    pub unknown: UnknownPayee,
}

codes! {
    /// What to do with a payee on neither list.
    pub enum UnknownPayee {
        /// Pay it.
        Allow = "allow",
        /// Ask a person.
        StepUp = "step_up",
        /// Do not pay it.
        Deny = "deny",
    }
}

/// A list of payees, each by one of its members.
#[derive(Clone, Debug, Default)]
pub struct PayeeList {
    keys: HashSet<PayeeKey>,
    /// What the domains and names look like, with the entry as a reader knows it.
    looks: HashMap<String, String>,
}

impl Payees {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["allow", "deny", "unknown"])?;
        let list = |name| members.list(name, MAX_ENTRIES, read_entry).map(|keys| keys.into_iter().collect::<PayeeList>());
        let unknown = members.read("unknown", |field| field.known(UnknownPayee::parse, "Give \"allow\", \"step_up\" or \"deny\"."))?;
        Ok(Self { allow: list("allow")?, deny: list("deny")?, unknown: unknown.unwrap_or(UnknownPayee::StepUp) })
    }
}

impl PayeeList {
    /// Whether the payee is on the list by what it is known by. A domain stands for the names under it too.
    pub fn has(&self, key: &PayeeKey) -> bool {
        match key {
            PayeeKey::Domain(domain) => self.covers(domain),
            key => self.keys.contains(key),
        }
    }

    /// Whether the payee is on the list by any of its members.
    pub fn has_any_of(&self, payee: &Payee) -> bool {
        payee.merchant_id.as_ref().is_some_and(|id| self.keys.contains(&PayeeKey::MerchantId(id.clone())))
            || payee.domain.as_ref().is_some_and(|domain| self.covers(domain))
            || payee.name.as_ref().is_some_and(|name| self.keys.contains(&PayeeKey::Name(name.normal().into())))
    }

    fn covers(&self, domain: &Domain) -> bool {
        domain.and_parents().any(|name| self.keys.contains(&PayeeKey::Domain(Domain::known(name))))
    }

    /// The entry that the payee looks like without being it.
    pub fn imitated_by(&self, payee: &Payee) -> Option<&str> {
        if self.looks.is_empty() {
            return None;
        }
        let by_domain = || {
            let domain = payee.domain.as_ref().filter(|domain| !self.covers(domain))?;
            domain.and_parents().find_map(|name| self.looks.get(&skeleton(&Domain::known(name).unicode())))
        };
        let by_name = || {
            let name = payee.name.as_ref().filter(|name| !self.keys.contains(&PayeeKey::Name(name.normal().into())))?;
            let entry = self.looks.get(&skeleton(name.normal()))?;
            // A payee on an allowed domain may call itself by it.
            let is_own = payee.domain.as_ref().is_some_and(|domain| domain.and_parents().any(|own| own == entry));
            (!is_own).then_some(entry)
        };
        by_domain().or_else(by_name).map(String::as_str)
    }
}

impl FromIterator<PayeeKey> for PayeeList {
    fn from_iter<T: IntoIterator<Item = PayeeKey>>(keys: T) -> Self {
        let keys: HashSet<_> = keys.into_iter().collect();
        let look = |key: &PayeeKey| match key {
            PayeeKey::MerchantId(_) => None,
            PayeeKey::Domain(domain) => Some((skeleton(&domain.unicode()), domain.to_string())),
            PayeeKey::Name(name) => Some((skeleton(name), name.to_string())),
        };
        Self { looks: keys.iter().filter_map(look).collect(), keys }
    }
}

/// An object with one member: `domain`, `merchant_id` or `name`.
fn read_entry(field: &Field<'_>) -> Result<PayeeKey, Fault> {
    let members = field.members(&["domain", "merchant_id", "name"])?;
    let domain = members.read("domain", read_domain)?.map(PayeeKey::Domain);
    let merchant_id = members.read("merchant_id", read_merchant_id)?.map(PayeeKey::MerchantId);
    let name = members.read("name", read_name)?.map(|name| PayeeKey::Name(name.normal().into()));
    let mut keys = [domain, merchant_id, name].into_iter().flatten();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        (None, _) => Err(field.fault(FaultCode::TooShort, "Name a domain, a merchant_id or a name.")),
        _ => Err(field.fault(FaultCode::TooLong, "Name one thing: a domain, a merchant_id or a name.")),
    }
}

/// A domain of at most 200 characters.
pub(crate) fn read_domain(field: &Field<'_>) -> Result<Domain, Fault> {
    field.text(200)?;
    field.parsed(Domain::parse)
}

/// A name of at most 200 characters.
pub(crate) fn read_name(field: &Field<'_>) -> Result<Name, Fault> {
    Name::new(field.text(200)?).ok_or_else(|| field.fault(FaultCode::Malformed, "Give a name that can be seen."))
}

/// A merchant id.
pub(crate) fn read_merchant_id(field: &Field<'_>) -> Result<Box<str>, Fault> {
    let id = field.string()?;
    if is_merchant_id(id) { Ok(id.into()) } else { Err(field.fault(FaultCode::Malformed, "Give 1 to 128 visible ASCII characters.")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payee_may_call_itself_by_its_own_domain() {
        let list: PayeeList = [key("domain:shop.example")].into_iter().collect();
        assert_eq!(list.imitated_by(&payee(Some("shop.example"), Some("shop.example"), None)), None);
        assert_eq!(list.imitated_by(&payee(Some("Shop.Example"), Some("www.shop.example"), None)), None);
        assert_eq!(list.imitated_by(&payee(Some("shop.example"), Some("other.example"), None)), Some("shop.example"));
        assert_eq!(list.imitated_by(&payee(Some("shop.example"), None, None)), Some("shop.example"));
    }

    fn payee(name: Option<&str>, domain: Option<&str>, merchant_id: Option<&str>) -> Payee {
        Payee {
            name: name.and_then(Name::new),
            domain: domain.map(|domain| Domain::parse(domain).unwrap()),
            merchant_id: merchant_id.map(Into::into),
        }
    }

    fn list() -> PayeeList {
        ["domain:paypal.com", "merchant:acct_1", "name:ream & rule"].map(key).into_iter().collect()
    }

    fn key(text: &str) -> PayeeKey {
        match text.split_once(':').unwrap() {
            ("domain", name) => PayeeKey::Domain(Domain::parse(name).unwrap()),
            ("merchant", id) => PayeeKey::MerchantId(id.into()),
            (_, name) => PayeeKey::Name(name.into()),
        }
    }

    #[test]
    fn a_domain_stands_for_the_names_under_it() {
        let has = |text| list().has(&key(text));
        assert!(has("domain:paypal.com") && has("domain:www.paypal.com") && has("merchant:acct_1") && has("name:ream & rule"));
        assert!(!has("domain:evilpaypal.com") && !has("domain:paypal.com.evil.example") && !has("merchant:ACCT_1") && !has("name:ream"));
    }

    #[test]
    fn any_member_counts_for_a_denial() {
        assert!(list().has_any_of(&payee(Some("REAM & Rule"), Some("other.example"), None)));
        assert!(list().has_any_of(&payee(None, Some("a.paypal.com"), Some("acct_2"))));
        assert!(!list().has_any_of(&payee(Some("Ream"), Some("other.example"), Some("acct_2"))));
    }

    #[test]
    fn imitations() {
        let list = list();
        assert_eq!(list.imitated_by(&payee(None, Some("www.paypa1.com"), None)), Some("paypal.com"));
        assert_eq!(list.imitated_by(&payee(Some("Rearn & Rule"), None, None)), Some("ream & rule"));
        assert_eq!(list.imitated_by(&payee(Some("Ream & Rule"), Some("paypal.com"), None)), None);
        assert_eq!(list.imitated_by(&payee(Some("Other"), Some("other.example"), None)), None);
    }
}
