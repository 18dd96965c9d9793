//! `ucp/booking/unsigned`: a booking in which the buyer signs nothing; the agreement is paid first.

use crate::ucp::NotSigned;

pub(crate) static PAIRING: NotSigned = NotSigned("ucp/booking/unsigned");
