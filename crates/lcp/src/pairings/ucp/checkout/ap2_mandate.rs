//! `ucp/checkout/ap2-mandate`: the buyer's AP2 checkout mandate commits to the checkout that the merchant signed, one of whose links
//! names H.

use crate::ucp::Ap2Mandate;

pub(crate) static PAIRING: Ap2Mandate = Ap2Mandate("ucp/checkout/ap2-mandate");
