//! What the gate declines with.

use std::fmt;

use crate::Refusal;

/// The twelve decline codes of the gate. The MCP server adds three of its own for values whose mac does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclineCode {
    /// The gate cannot pay this pairing, or the value is of another pairing.
    PairingNotSupported,
    /// The seller's document, or what was chosen from it, cannot be read or built.
    OfferUnreadable,
    /// Nothing in the document serves the account and its inputs.
    NoPayableOption,
    /// A link is not an https link.
    LinkNotHttps,
    /// The ATR could not be fetched.
    AtrUnfetchable,
    /// The ATR is larger than 1 MiB.
    AtrTooLarge,
    /// The bytes do not hash to the hash they were offered under.
    HashMismatch,
    /// The signer did not sign.
    SignerFailed,
    /// H is not read from what was signed.
    SignedNotBound,
    /// The pairing needs an agreement payment and the offer names no agreement URL.
    AgreementNotOffered,
    /// The agreement payment was sent, or another is settling, and its receipt is not there yet.
    AgreementPending,
    /// The agreement was not recorded.
    AgreementFailed,
}

impl DeclineCode {
    /// The code as it crosses to the caller.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PairingNotSupported => "pairing-not-supported",
            Self::OfferUnreadable => "offer-unreadable",
            Self::NoPayableOption => "no-payable-option",
            Self::LinkNotHttps => "link-not-https",
            Self::AtrUnfetchable => "atr-unfetchable",
            Self::AtrTooLarge => "atr-too-large",
            Self::HashMismatch => "hash-mismatch",
            Self::SignerFailed => "signer-failed",
            Self::SignedNotBound => "signed-not-bound",
            Self::AgreementNotOffered => "agreement-not-offered",
            Self::AgreementPending => "agreement-pending",
            Self::AgreementFailed => "agreement-failed",
        }
    }
}

impl fmt::Display for DeclineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A decline: its code, and either a refusal's `namespace/code` or a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    /// The stable code.
    pub code: DeclineCode,
    /// A refusal's stable code, or a sentence.
    pub detail: String,
}

impl Declined {
    /// Declines with a sentence.
    pub fn because(code: DeclineCode, sentence: impl Into<String>) -> Self {
        Self { code, detail: sentence.into() }
    }

    /// Declines with a refusal, whose code becomes the detail.
    pub fn refused(code: DeclineCode, refusal: &Refusal) -> Self {
        Self { code, detail: refusal.code().to_owned() }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Declined {}
