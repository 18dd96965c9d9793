//! The README's table of pairings, written from the registry.

use std::fmt::Write;

use lcp::registry::PAIRINGS;

const START: &str = "<!-- pairings: written by `cargo run -p conformance -- pairings` -->\n";
const END: &str = "<!-- /pairings -->";

/// The README with its table made anew, or `None` if it has no place for one.
pub fn written_into(readme: &str) -> Option<String> {
    let (before, rest) = readme.split_once(START)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{START}{}{END}{after}", table()))
}

fn table() -> String {
    let yes = |answer| if answer { "yes" } else { "no" };
    let mut table = String::from("| rail | pairing | buyer signs H | agreement payment first |\n| --- | --- | --- | --- |\n");
    for entry in &PAIRINGS {
        // Writing to a string does not fail.
        let _ = writeln!(table, "| {} | `{}` | {} | {} |", entry.rail, entry.id, yes(entry.buyer_signs_h), yes(entry.agreement_first));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_what_the_registry_says() {
        let readme = include_str!("../../../README.md");
        assert_eq!(written_into(readme).as_deref(), Some(readme), "run `cargo run -p conformance -- pairings`");
    }
}
