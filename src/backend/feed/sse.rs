//! Server-sent events, from bytes in any pieces (WHATWG HTML, 9.2.5 and 9.2.6).

use std::sync::Arc;
use std::time::Duration;

use super::FeedError;

/// The longest line, and the longest data of one event, in bytes.
pub const LONGEST: usize = 1024 * 1024;

/// What a block of the stream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseEvent {
    /// A block with data.
    Message {
        /// `message` where the block does not say.
        event: String,
        data: String,
        /// The last id so far; `None` where there was none, or an empty one.
        id: Option<Arc<str>>,
    },
    /// A block without data that has an id.
    Id(Option<Arc<str>>),
    /// How long to wait before the next connection.
    Retry(Duration),
}

/// The state between two pieces of a stream.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The line that has begun.
    line: Vec<u8>,
    /// The last byte was a CR, which ended a line: an LF that follows belongs to it.
    after_cr: bool,
    /// Whether the stream's first line is behind us; a byte order mark stands at its start.
    begun: bool,
    data: String,
    has_data: bool,
    event: String,
    id: Option<Arc<str>>,
    /// The block that has begun has an id.
    has_id: bool,
}

impl SseParser {
    /// Takes a piece of the stream, and adds what is complete to `events`.
    ///
    /// # Errors
    /// A line, or the data of an event, over [`LONGEST`].
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), FeedError> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            self.hold(&rest[..end])?;
            let is_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_cr {
                self.after_cr = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            self.line(events)?;
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

    /// The line that has been held has come to its end.
    fn line(&mut self, events: &mut Vec<SseEvent>) -> Result<(), FeedError> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&bytes);
        if !self.begun {
            self.begun = true;
            if let Some(rest) = line.strip_prefix('\u{feff}') {
                line = rest.to_owned().into();
            }
        }
        if line.is_empty() {
            self.dispatch(events);
            return Ok(());
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => self.event = value.to_owned(),
            "data" => {
                if self.data.len() + value.len() + 1 > LONGEST {
                    return Err(FeedError::TooLong(LONGEST));
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "id" if !value.contains('\0') => {
                self.id = (!value.is_empty()).then(|| value.into());
                self.has_id = true;
            }
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                events.push(SseEvent::Retry(Duration::from_millis(value.parse().unwrap_or(u64::MAX))));
            }
            // A comment, a field that is none, an id with a NUL.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, events: &mut Vec<SseEvent>) {
        let data = std::mem::take(&mut self.data);
        let event = std::mem::take(&mut self.event);
        let (has_data, has_id) = (std::mem::take(&mut self.has_data), std::mem::take(&mut self.has_id));
        if has_data {
            let event = if event.is_empty() { "message".to_owned() } else { event };
            events.push(SseEvent::Message { event, data, id: self.id.clone() });
        } else if has_id {
            events.push(SseEvent::Id(self.id.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        SseParser::default().push(bytes, &mut events).expect("a stream");
        events
    }

    fn message(event: &str, data: &str, id: Option<&str>) -> SseEvent {
        SseEvent::Message { event: event.into(), data: data.into(), id: id.map(Into::into) }
    }

    #[test]
    fn the_examples_of_the_standard() {
        for (text, want) in [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", vec![message("message", "YHOO\n+2\n10", None)]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                vec![
                    message("message", "first event", Some("1")),
                    message("message", "second event", None),
                    message("message", " third event", None),
                ],
            ),
            (
                "data\n\ndata\ndata\n\ndata:",
                vec![message("message", "", None), message("message", "\n", None)],
            ),
            ("data:test\n\ndata: test\n\n", vec![message("message", "test", None); 2]),
            ("event: add\ndata: 73857293\n\n", vec![message("add", "73857293", None)]),
        ] {
            assert_eq!(parse(text.as_bytes()), want, "{text:?}");
        }
    }

    #[test]
    fn lines_end_in_three_ways_and_odd_fields_are_passed_over() {
        for (text, want) in [
            ("\u{feff}data: a\r\rdata: b\n\ndata: c\r\n\r\n", vec!["a", "b", "c"]),
            ("data: a\u{feff}\n\n\u{feff}data: b\n\n", vec!["a\u{feff}"]),
            ("Data: x\ndata : y\nfoo\n:data: z\ndata: a\n\n", vec!["a"]),
            ("data: never finished", vec![]),
        ] {
            let events = parse(text.as_bytes());
            let data: Vec<_> = events
                .iter()
                .map(|event| match event {
                    SseEvent::Message { data, .. } => &**data,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(data, want, "{text:?}");
        }
        assert_eq!(parse(b"data: \xff\n\n"), [message("message", "\u{fffd}", None)]);
    }

    #[test]
    fn ids_last_until_the_next_one_and_retry_is_a_number() {
        let text =
            "id: 1\n\nid: a\0b\ndata: x\n\nid:\ndata: y\n\nretry: 2000\nretry: 2s\nretry: -1\nretry:\n\n";
        assert_eq!(
            parse(text.as_bytes()),
            [
                SseEvent::Id(Some("1".into())),
                message("message", "x", Some("1")),
                message("message", "y", None),
                SseEvent::Retry(Duration::from_secs(2)),
            ]
        );
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut parser = SseParser::default();
        let piece = vec![b'x'; 64 * 1024];
        let mut events = Vec::new();
        let taken = (0..100).take_while(|_| parser.push(&piece, &mut events).is_ok()).count();
        assert_eq!(taken, LONGEST / piece.len());
        let mut parser = SseParser::default();
        let line = format!("data: {}\n", "x".repeat(100_000));
        let taken = (0..100).take_while(|_| parser.push(line.as_bytes(), &mut events).is_ok()).count();
        assert_eq!(taken, LONGEST / 100_000, "nor are many lines of one event");
        assert_eq!(events, []);
    }
}
