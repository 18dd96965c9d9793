//! The skill that teaches an agent to use the tools, carried by the binary.

use std::{fs, path::Path};

const NAME: &str = "confirming-the-atr-hash-before-paying";

/// The skill's text.
pub(crate) const TEXT: &str = include_str!("../../../../../skills/confirming-the-atr-hash-before-paying/SKILL.md");

/// Writes the skill's folder into an agent's folder of skills, and returns the file's path.
pub(crate) fn install(skills: &Path) -> Result<String, String> {
    let folder = skills.join(NAME);
    let file = folder.join("SKILL.md");
    let about = |error: std::io::Error| format!("{}: {error}", file.display());
    fs::create_dir_all(&folder).map_err(about)?;
    fs::write(&file, TEXT).map_err(about)?;
    Ok(file.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_all_eight_tools_and_no_other() {
        let quoted: BTreeSet<&str> = TEXT.split('`').skip(1).step_by(2).filter(|word| word.starts_with("atr_")).collect();
        let tools = [
            "atr_agree",
            "atr_channel_open",
            "atr_channel_record_charge",
            "atr_channel_within",
            "atr_check",
            "atr_confirm",
            "atr_finish",
            "atr_transact",
        ];
        assert_eq!(quoted, BTreeSet::from(tools));
    }

    #[test]
    fn gives_thirteen_instructions_in_order() {
        let numbers: Vec<&str> = TEXT.lines().filter_map(|line| line.split_once(". **")).map(|(number, _)| number).collect();
        assert_eq!(numbers, (1..=13).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
