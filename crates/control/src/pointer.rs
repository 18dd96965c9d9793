//! JSON pointers (RFC 6901): where in a document something stands.

use std::fmt;

/// A place in a JSON document: empty for the whole, else `/` and a name or index for each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pointer(String);

/// Longest name that a pointer shows; the rest of a longer one is cut, for names come from outside.
const MAX_SHOWN: usize = 64;

impl Pointer {
    /// The whole document.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// The member of that name.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        let mut pointer = self.0.clone();
        pointer.push('/');
        for (index, c) in name.chars().enumerate() {
            match c {
                _ if index == MAX_SHOWN => {
                    pointer.push('…');
                    break;
                }
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                c => pointer.push(c),
            }
        }
        Self(pointer)
    }

    /// The element of that index.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a place that the pattern names: the same steps, where `*` stands for any one step.
    pub fn matches(&self, pattern: &str) -> bool {
        let (mut steps, mut wanted) = (self.0.split('/'), pattern.split('/'));
        loop {
            match (steps.next(), wanted.next()) {
                (None, None) => return true,
                (Some(step), Some(want)) if want == "*" || want == step => {}
                _ => return false,
            }
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_escaped_and_cut() {
        assert_eq!(Pointer::root().member("a/b").index(3).member("~").as_str(), "/a~1b/3/~0");
        assert_eq!(Pointer::root().member(&"n".repeat(1000)).as_str(), format!("/{}…", "n".repeat(64)));
        assert_eq!(Pointer::root().member(&"n".repeat(64)).as_str(), format!("/{}", "n".repeat(64)));
    }

    #[test]
    fn patterns() {
        let digest = Pointer::root().member("evidence").index(0).member("digest");
        assert!(digest.matches("/evidence/*/digest"));
        assert!(digest.matches("/evidence/0/digest"));
        assert!(!digest.matches("/evidence/*"));
        assert!(!digest.matches("/evidence/*/digest/*"));
        assert!(!digest.matches("/*/0/ref"));
        assert!(Pointer::root().matches(""));
    }
}
