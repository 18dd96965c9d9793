//! ES256 (RFC 7518 section 3.4): ECDSA over P-256 with SHA-256. Verification only.

use std::fmt;

use p256::ecdsa::{Signature, VerifyingKey, signature::Verifier};

use crate::encoding;

/// A P-256 public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct P256Key(VerifyingKey);

impl P256Key {
    /// The key of a JWK's `x` and `y` (RFC 7518 section 6.2.1): canonical base64url of 32 bytes each, which name a point of
    /// the curve.
    pub fn from_coordinates(x: &str, y: &str) -> Option<Self> {
        // SEC 1 section 2.3.3: an uncompressed point.
        let point = [&[4], &*coordinate(x)?, &*coordinate(y)?].concat();
        VerifyingKey::from_sec1_bytes(&point).ok().map(Self)
    }

    /// Whether this key made that signature over exactly these bytes: R and S, 32 bytes each. Of the two S that ECDSA allows
    /// for an R, JOSE takes either.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|signature| self.0.verify(message, &signature).is_ok())
    }
}

fn coordinate(text: &str) -> Option<Vec<u8>> {
    // The length is judged first, so that a long text is not decoded.
    (text.len() == 43).then(|| encoding::from_base64url(text))?
}

/// The point, as SEC 1 compresses it.
impl fmt::Debug for P256Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P256Key({})", encoding::hex(self.0.to_sec1_point(true).as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jose::Compact;

    const X: &str = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    const Y: &str = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
    const TOKEN: &str = concat!(
        "eyJhbGciOiJFUzI1NiJ9",
        ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    );
    /// The group's order, big-endian.
    const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

    fn key() -> P256Key {
        P256Key::from_coordinates(X, Y).unwrap()
    }

    fn verifies(signature: &[u8]) -> bool {
        key().verifies(Compact::read(TOKEN).unwrap().signing_input.as_bytes(), signature)
    }

    fn signature() -> Vec<u8> {
        Compact::read(TOKEN).unwrap().signature
    }

    fn order() -> [u8; 32] {
        let mut bytes = [0; 32];
        encoding::hex_into(ORDER, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn verifies_as_rfc_7515_appendix_a_3() {
        assert!(verifies(&signature()));
        assert!(!key().verifies(b"another text", &signature()));
        // The same point mirrored is another key.
        let mirrored = "OA67sjhCZIzNgUFf1E_kDmSwZCPOlsB7bdtlM3vL8I4";
        let other = P256Key::from_coordinates(X, mirrored);
        assert!(other.is_none_or(|other| !other.verifies(Compact::read(TOKEN).unwrap().signing_input.as_bytes(), &signature())));
    }

    #[test]
    fn either_s_and_only_scalars_of_the_group() {
        // The order less S, byte by byte from the end.
        let mut mirrored = signature();
        let mut borrow = 0;
        for (byte, order) in mirrored[32..].iter_mut().zip(order()).rev() {
            let difference = i16::from(order) - i16::from(*byte) - borrow;
            borrow = i16::from(difference < 0);
            *byte = difference.to_le_bytes()[0];
        }
        assert!(verifies(&mirrored));

        let halves = |r: &[u8], s: &[u8]| [r, s].concat();
        let (r, s) = (&signature()[..32], &signature()[32..]);
        for other in
            [halves(s, r), halves(&[0; 32], s), halves(r, &[0; 32]), halves(&order(), s), halves(r, &order()), halves(&[0xFF; 32], s), Vec::new()]
        {
            assert!(!verifies(&other), "{other:?}");
        }
        assert!(!verifies(&signature()[..63]) && !verifies(&[signature(), vec![0]].concat()));
    }

    #[test]
    fn a_key_is_a_point_spelled_once() {
        assert!(P256Key::from_coordinates(Y, X).is_none(), "not on the curve");
        let zero = encoding::base64url(&[0; 32]);
        assert!(P256Key::from_coordinates(&zero, &zero).is_none());
        assert!(P256Key::from_coordinates(&encoding::base64url(&[0xFF; 32]), Y).is_none());
        for x in ["", &X[1..], &format!("{X}="), &format!("{}V", &X[..42]), &format!("A{X}"), &format!(" {}", &X[1..])] {
            assert!(P256Key::from_coordinates(x, Y).is_none(), "{x}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_flipped_bit_breaks_a_signature(bit in 0..512_usize) {
            let mut changed = signature();
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!verifies(&changed));
        }

        #[test]
        fn any_coordinates_are_judged(x: [u8; 32], y: [u8; 32], signature: Vec<u8>) {
            if let Some(key) = P256Key::from_coordinates(&encoding::base64url(&x), &encoding::base64url(&y)) {
                prop_assert!(!key.verifies(b"", &signature));
            }
        }
    }
}
