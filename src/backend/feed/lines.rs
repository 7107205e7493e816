//! Lines, from bytes in any pieces.

use super::FeedError;

/// The longest line, in bytes: an object of Kubernetes has up to 1.5 MiB where it is stored, and more as JSON.
pub const LONGEST: usize = 8 * 1024 * 1024;

/// The line that has begun.
#[derive(Debug, Default)]
pub struct LineParser {
    line: Vec<u8>,
}

impl LineParser {
    /// Takes a piece of the stream, and gives each whole line to `take`, without its end. Blank lines, which keep a
    /// connection alive, are passed over; so is what is not finished when the stream ends.
    ///
    /// # Errors
    /// A line over [`LONGEST`].
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), FeedError> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.hold(&rest[..end])?;
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            let line = line.trim_ascii();
            if !line.is_empty() {
                take(line);
            }
        }
        self.hold(rest)
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), FeedError> {
        if self.line.len() + part.len() > LONGEST {
            return Err(FeedError::TooLong(LONGEST));
        }
        self.line.extend_from_slice(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_given_and_blank_ones_are_not() {
        let mut parser = LineParser::default();
        let mut lines = Vec::new();
        for piece in ["{\"a\"", ":1}\r", "\n\n  \n[]\n", "rest"] {
            let taken =
                parser.push(piece.as_bytes(), |line| lines.push(String::from_utf8_lossy(line).into_owned()));
            taken.expect("short lines");
        }
        assert_eq!(lines, ["{\"a\":1}", "[]"]);
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut parser = LineParser::default();
        let piece = vec![b'x'; 1024 * 1024];
        let taken = (0..20).take_while(|_| parser.push(&piece, |_| panic!("a line")).is_ok()).count();
        assert_eq!(taken, 8);
    }
}
