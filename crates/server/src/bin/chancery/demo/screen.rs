//! What the demo shows: numbered titles, and lines of what and value.

use std::{
    env,
    io::{self, IsTerminal},
};

use crate::output::{plain, put_line};

/// The terminal, or whatever takes the output.
pub(super) struct Screen {
    is_coloured: bool,
    step: u32,
}

/// How a word is coloured on a terminal. The word says it without.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    Good,
    Ask,
    Bad,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self { is_coloured: io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()), step: 0 }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.is_coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Begins a step.
    pub(super) fn step(&mut self, title: &str) {
        self.step += 1;
        put_line(format_args!("\n{}", self.paint("1", &format!("{}. {title}", self.step))));
    }

    /// A line of it.
    pub(super) fn say(&self, what: &str, value: &str) {
        self.line(what, &plain(value));
    }

    /// A line whose value is a verdict.
    pub(super) fn verdict(&self, what: &str, tone: Tone, word: &str, rest: &str) {
        let code = match tone {
            Tone::Good => "32",
            Tone::Ask => "33",
            Tone::Bad => "31",
        };
        let word = self.paint(code, &plain(word));
        self.line(what, &if rest.is_empty() { word } else { format!("{word}  {}", plain(rest)) });
    }

    fn line(&self, what: &str, value: &str) {
        put_line(format_args!("   {} {value}", self.paint("2", &format!("{what:<12}"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals() {
        let screen = |is_coloured| Screen { is_coloured, step: 0 };
        assert_eq!(screen(false).paint("32", "allow"), "allow");
        assert_eq!(screen(true).paint("32", "allow"), "\u{1b}[32mallow\u{1b}[0m");
    }
}
