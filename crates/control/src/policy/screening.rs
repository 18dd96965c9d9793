//! `screening`: payees that are never paid, and words that no purpose may hold.

use super::{
    MAX_ENTRIES,
    payees::{PayeeList, read_domain, read_merchant_id, read_name},
};
use crate::{
    Fault, FaultCode,
    payee::{Name, Payee, PayeeKey},
    read::Field,
};

/// The screening lists.
#[derive(Clone, Debug, Default)]
pub struct Screening {
    payees: PayeeList,
    purpose_terms: Vec<Name>,
}

impl Screening {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["names", "domains", "merchant_ids", "purpose_terms"])?;
        let names = members.list("names", MAX_ENTRIES, read_name)?.into_iter().map(|name| PayeeKey::Name(name.normal().into()));
        let domains = members.list("domains", MAX_ENTRIES, read_domain)?.into_iter().map(PayeeKey::Domain);
        let merchant_ids = members.list("merchant_ids", MAX_ENTRIES, read_merchant_id)?.into_iter().map(PayeeKey::MerchantId);
        let read_term =
            |item: &Field<'_>| Name::new(item.text(200)?).ok_or_else(|| item.fault(FaultCode::Malformed, "Give a term that can be seen."));
        Ok(Self { payees: names.chain(domains).chain(merchant_ids).collect(), purpose_terms: members.list("purpose_terms", MAX_ENTRIES, read_term)? })
    }

    /// What was hit: `payee` for a payee on a list or one that looks like it, `purpose` for a word.
    pub fn hit(&self, payee: &Payee, purpose: &str) -> Option<&'static str> {
        if self.payees.has_any_of(payee) || self.payees.imitated_by(payee).is_some() {
            return Some("payee");
        }
        let purpose = Name::new(purpose)?;
        self.purpose_terms.iter().any(|term| has_words(purpose.normal(), term.normal())).then_some("purpose")
    }
}

/// Whether the words stand in the text as words, not inside longer ones.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(start, found)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        is_edge(text.get(..start).and_then(|before| before.chars().next_back()))
            && is_edge(text.get(start + found.len()..).and_then(|after| after.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_alone() {
        assert!(has_words("two gift cards", "gift cards"));
        assert!(has_words("gift card", "gift card"));
        assert!(has_words("(gift card)", "gift card"));
        assert!(!has_words("gift cards", "gift card"));
        assert!(!has_words("regift card", "gift card"));
        assert!(has_words("gift cards, one gift card", "gift card"));
    }
}
