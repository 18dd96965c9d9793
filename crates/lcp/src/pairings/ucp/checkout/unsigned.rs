//! `ucp/checkout/unsigned`: a checkout in which the buyer signs nothing; the agreement is paid first.

use crate::ucp::NotSigned;

pub(crate) static PAIRING: NotSigned = NotSigned("ucp/checkout/unsigned");
