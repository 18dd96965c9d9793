//! `mpp/charge/stripe`: a charge by a token that Stripe gave the buyer, in which nothing the buyer signs has a place for H; the
//! agreement is paid first.

use crate::mpp::{Mpp, signs_nothing::SignsNothing, stripe};

pub(crate) static PAIRING: Mpp<SignsNothing> = Mpp(SignsNothing { id: "mpp/charge/stripe", pays: stripe::pays });
