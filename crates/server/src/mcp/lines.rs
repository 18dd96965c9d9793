//! Lines of a byte stream, in and out.

use std::io;

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::mpsc,
};

/// The longest line that is read.
pub(super) const MAX_LINE: usize = 16 << 20;

/// A line without its end.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// It is longer than [`MAX_LINE`]; it was skipped to its end.
    TooLong,
}

/// Reads lines.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// What was read of the line so far.
    line: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), too_long: false }
    }

    /// The next line, or `None` at the end. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.reader.fill_buf().await?;
            let at_end = read.is_empty();
            let newline = read.iter().position(|&byte| byte == b'\n');
            let part = &read[..newline.unwrap_or(read.len())];
            if self.too_long || part.len() > MAX_LINE - self.line.len() {
                self.too_long = true;
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_none() && !at_end {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            return Ok(match std::mem::take(&mut self.too_long) {
                true => Some(Line::TooLong),
                false if at_end && line.is_empty() => None,
                false => Some(Line::Whole(line)),
            });
        }
    }
}

/// Writes each text as a line, until no sender is left.
pub(super) async fn write(mut writer: impl AsyncWrite + Unpin, mut texts: mpsc::Receiver<String>) -> io::Result<()> {
    while let Some(mut text) = texts.recv().await {
        text.push('\n');
        writer.write_all(text.as_bytes()).await?;
        writer.flush().await?;
    }
    writer.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(source: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(source);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        assert_eq!(lines.next().await.unwrap(), None);
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        assert_eq!(lines(b"a\n\nb").await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(lines(b"a\n").await, [whole("a")]);
        assert_eq!(lines(b"").await, []);
    }

    #[tokio::test]
    async fn a_line_over_the_bound_is_skipped_whole() {
        let mut source = vec![b'x'; MAX_LINE];
        source.extend(b"\n");
        source.extend(vec![b'x'; MAX_LINE + 1]);
        source.extend(b"\nnext\n");
        source.extend(vec![b'x'; 2 * MAX_LINE]);
        let lines = lines(&source).await;
        assert!(matches!(&lines[0], Line::Whole(line) if line.len() == MAX_LINE));
        assert_eq!(lines[1..], [Line::TooLong, whole("next"), Line::TooLong]);
    }
}
