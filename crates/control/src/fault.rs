//! What is wrong with an input: the place, a stable code, and what to do.

use std::{borrow::Cow, fmt};

use crate::Pointer;

/// Why an input was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The member at fault.
    pub pointer: Pointer,
    /// The stable code.
    pub code: FaultCode,
    /// One sentence that says what to do. It never repeats what was sent.
    pub sentence: Cow<'static, str>,
}

impl Fault {
    /// A fault at a place.
    pub fn new(pointer: &Pointer, code: FaultCode, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { pointer: pointer.clone(), code, sentence: sentence.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.as_str().is_empty() { "the document" } else { self.pointer.as_str() };
        write!(f, "{place}: {} ({})", self.sentence, self.code.as_str())
    }
}

impl std::error::Error for Fault {}

/// Declares an enum of stable codes with their texts.
macro_rules! codes {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the order declared.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The text on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The one with that text.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use codes;

codes! {
    /// The stable codes of refused input.
    pub enum FaultCode {
        /// The text is not JSON, or nests too deep.
        NotJson = "not_json",
        /// A value of another JSON type than the member's.
        WrongType = "wrong_type",
        /// A member that must be there is not.
        MissingMember = "missing_member",
        /// A member that no rule names.
        UnknownMember = "unknown_member",
        /// A text or list shorter than allowed.
        TooShort = "too_short",
        /// A text or list longer than allowed.
        TooLong = "too_long",
        /// A number outside its range.
        OutOfRange = "out_of_range",
        /// A text that is not one of those allowed.
        NotAllowed = "not_allowed",
        /// A text of another form than the member's.
        Malformed = "malformed",
        /// A text with control characters or a lone surrogate.
        ControlCharacter = "control_character",
        /// The same thing twice in a list that names each once.
        Repeated = "repeated",
        /// An amount that is not a plain decimal.
        AmountMalformed = "amount_malformed",
        /// More fraction digits than the currency has.
        AmountPrecision = "amount_precision",
        /// Zero where something must be paid.
        AmountZero = "amount_zero",
        /// More than the largest amount held.
        AmountTooLarge = "amount_too_large",
        /// No currency in use, and no asset that the policy names.
        UnknownCurrency = "unknown_currency",
        /// A time zone that the IANA database does not have.
        UnknownZone = "unknown_zone",
        /// A text that is no domain name, or one that no payee can have.
        DomainMalformed = "domain_malformed",
        /// A name under which anybody registers, such as `co.uk`.
        DomainPublicSuffix = "domain_public_suffix",
        /// A name whose letters imitate those of another script.
        DomainConfusable = "domain_confusable",
        /// A text that is no https URL of a domain.
        UrlMalformed = "url_malformed",
        /// A text that looks like a card number.
        CardNumber = "card_number_rejected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart_by_their_texts() {
        for code in FaultCode::ALL {
            assert_eq!(FaultCode::parse(code.as_str()), Some(*code));
        }
    }

    #[test]
    fn a_fault_says_where() {
        let at = Pointer::root().member("amount");
        let fault = Fault::new(&at, FaultCode::AmountZero, "Ask for more than nothing.");
        assert_eq!(fault.to_string(), "/amount: Ask for more than nothing. (amount_zero)");
    }
}
