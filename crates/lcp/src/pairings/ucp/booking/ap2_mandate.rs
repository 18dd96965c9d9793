//! `ucp/booking/ap2-mandate`: the buyer's AP2 checkout mandate commits to the booking that the merchant signed, one of whose links
//! names H.

use crate::ucp::Ap2Mandate;

pub(crate) static PAIRING: Ap2Mandate = Ap2Mandate("ucp/booking/ap2-mandate");
