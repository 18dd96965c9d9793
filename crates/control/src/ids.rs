//! Ids: a prefix that says of what, and 128 bits in Crockford's base 32.

/// Where fresh ids come from: the operating system in the server, a seed in the simulator.
pub trait Ids {
    /// Sixteen fresh bytes for an id, no two of them the same. They may begin with the time, so that rows that are made
    /// together lie together.
    fn draw(&mut self) -> [u8; 16];

    /// Sixteen fresh bytes for a secret, all of them random.
    fn secret(&mut self) -> [u8; 16] {
        self.draw()
    }
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;

/// 128 bits as 26 characters, the most significant first.
pub fn encode(bytes: [u8; 16]) -> String {
    let number = u128::from_be_bytes(bytes);
    (0..LENGTH).rev().map(|place| char::from(ALPHABET[(number >> (5 * place)) as usize & 31])).collect()
}

fn is_encoded(text: &str) -> bool {
    // The first character holds the top three bits alone.
    text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte)) && text.as_bytes().first().is_some_and(|first| *first < b'8')
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(Box<str>);

            impl $name {
                /// What its text starts with.
                pub const PREFIX: &'static str = $prefix;

                /// A fresh one.
                pub fn fresh(ids: &mut dyn Ids) -> Self {
                    Self::of(ids.draw())
                }

                /// The one of those 128 bits.
                pub fn of(bytes: [u8; 16]) -> Self {
                    Self(format!("{}{}", $prefix, encode(bytes)).into())
                }

                /// Reads the one spelling: the prefix and 26 lower-case characters.
                pub fn parse(text: &str) -> Option<Self> {
                    text.strip_prefix($prefix).is_some_and(is_encoded).then(|| Self(text.into()))
                }

                /// The text.
                pub fn as_str(&self) -> &str {
                    &self.0
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl From<&$name> for lcp::Value {
                fn from(id: &$name) -> Self {
                    id.as_str().into()
                }
            }
        )*

        /// What ids of ours start with.
        pub const PREFIXES: &[&str] = &[$($prefix,)*];
    };
}

ids! {
    /// An organization.
    OrgId = "org_",
    /// A person.
    UserId = "usr_",
    /// An agent.
    AgentId = "agt_",
    /// An API key (its name, not the secret).
    KeyId = "key_",
    /// A policy, whatever its version.
    PolicyId = "pol_",
    /// A consent.
    ConsentId = "cns_",
    /// A payment request.
    RequestId = "pr_",
    /// An approval.
    ApprovalId = "apv_",
    /// A mandate.
    MandateId = "mnd_",
    /// A record.
    RecordId = "rec_",
    /// An order that the sandbox merchant made.
    OrderId = "ord_",
    /// A question of a clarification.
    QuestionId = "q_",
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Fixed([u8; 16]);

    impl Ids for Fixed {
        fn draw(&mut self) -> [u8; 16] {
            self.0
        }
    }

    #[test]
    fn texts() {
        assert_eq!(OrgId::fresh(&mut Fixed([0; 16])).as_str(), "org_00000000000000000000000000");
        assert_eq!(RequestId::of([0xFF; 16]).as_str(), "pr_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        let mut last = [0; 16];
        last[15] = 33;
        assert_eq!(QuestionId::of(last).as_str(), "q_00000000000000000000000011");
    }

    #[test]
    fn one_spelling() {
        let id = OrgId::of([7; 16]);
        assert_eq!(OrgId::parse(id.as_str()), Some(id.clone()));
        for text in [
            id.as_str().to_uppercase(),
            id.as_str()[..29].to_owned(),
            format!("{id}0"),
            id.as_str().replace("org_", "usr_"),
            "org_8zzzzzzzzzzzzzzzzzzzzzzzzz".to_owned(),
            "org_0000000000000000000000000u".to_owned(),
            String::new(),
        ] {
            assert_eq!(OrgId::parse(&text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn order_and_identity_are_those_of_the_bits(a: [u8; 16], b: [u8; 16]) {
            prop_assert_eq!(MandateId::of(a).cmp(&MandateId::of(b)), a.cmp(&b));
            prop_assert_eq!(MandateId::parse(MandateId::of(a).as_str()), Some(MandateId::of(a)));
        }
    }
}
