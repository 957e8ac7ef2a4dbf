//! Decides which bytes of a connection may be passed on, without input or output.

use actix_http::{
    Request, ServiceConfig,
    error::ParseError,
    h1::{Codec, Message, MessageType},
};
use bytes::BytesMut;
use tokio_util::codec::Decoder;

use super::{BrokenHead, broken_head::MARK};

/// Follows the requests in the bytes of one connection with the decoder that the server itself uses. So the two cannot
/// disagree about where a request ends and the next one begins.
pub(super) struct Inspector {
    codec: Codec,
    /// Bytes that the decoder has seen and not consumed: the beginning of a head or of a chunk.
    ahead: BytesMut,
    place: Place,
    head_bytes_max: usize,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    Body,
    /// After a request to upgrade. The form of these bytes is unknown here.
    Tunnel,
}

/// The result of an inspection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inspected {
    /// How many of the bytes that were not passed on yet may be passed on now.
    pub(super) passed: usize,
    /// Whether they end a request. What follows belongs to the next request: it was not inspected and must be shown
    /// again.
    pub(super) ends_request: bool,
    /// What is wrong with the bytes that follow.
    pub(super) broken: Option<Broken>,
}

impl Inspected {
    const NOTHING: Self = Self { passed: 0, ends_request: false, broken: None };
}

/// Why nothing more can be read from a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    Head(BrokenHead),
    /// A chunked body contradicts itself. Its request was passed on and is answered as one whose body broke off.
    Body,
}

impl Inspector {
    pub(super) fn new(config: ServiceConfig, head_bytes_max: usize) -> Self {
        Self { codec: Codec::new(config), ahead: BytesMut::new(), place: Place::Head, head_bytes_max }
    }

    /// Whether the last byte that was passed on belongs to an incomplete body.
    pub(super) fn is_in_body(&self) -> bool {
        self.place == Place::Body
    }

    /// Inspects the bytes that were not passed on yet. Those at the end, `fresh`, were not inspected before. Inspects
    /// no further than to the end of a request.
    pub(super) fn inspect(&mut self, unpassed: &[u8], fresh: &[u8]) -> Inspected {
        if self.place == Place::Tunnel {
            return Inspected { passed: unpassed.len(), ..Inspected::NOTHING };
        }
        let begun = !self.ahead.is_empty();
        self.ahead.extend_from_slice(fresh);
        // The rest of a line cannot complete a head. Without this check, a head that arrives byte by byte would be
        // parsed at every byte.
        let may_end = self.place == Place::Body || !begun || fresh.contains(&b'\n');
        let inspected = if may_end { self.decode(unpassed) } else { Inspected::NOTHING };
        let left = unpassed.len().saturating_sub(inspected.passed);
        if self.ahead.is_empty() {
            // An idle connection keeps no memory.
            self.ahead = BytesMut::new();
        }
        let is_in_head = self.place == Place::Head && !inspected.ends_request;
        if inspected.broken.is_none() && is_in_head && left > self.head_bytes_max {
            return Inspected { broken: Some(Broken::Head(BrokenHead::TooLarge)), ..inspected };
        }
        inspected
    }

    fn decode(&mut self, unpassed: &[u8]) -> Inspected {
        let mut passed: usize = 0;
        loop {
            let before = self.ahead.len();
            let decoded = self.codec.decode(&mut self.ahead);
            let next = passed.saturating_add(before.saturating_sub(self.ahead.len()));
            match decoded {
                Ok(Some(Message::Item(request))) => {
                    let head = unpassed.get(passed..next).unwrap_or_default();
                    if let Err(broken) = self.check(head, &request) {
                        return Inspected {
                            passed,
                            broken: Some(Broken::Head(broken)),
                            ..Inspected::NOTHING
                        };
                    }
                    self.place = match self.codec.message_type() {
                        MessageType::None => Place::Head,
                        MessageType::Payload => Place::Body,
                        MessageType::Stream => Place::Tunnel,
                    };
                    if self.place == Place::Tunnel {
                        self.ahead.clear();
                        return Inspected { passed: unpassed.len(), ..Inspected::NOTHING };
                    }
                }
                Ok(Some(Message::Chunk(Some(_)))) => {}
                Ok(Some(Message::Chunk(None))) => self.place = Place::Head,
                Ok(None) => return Inspected { passed: next, ..Inspected::NOTHING },
                Err(why) => {
                    let rest = unpassed.get(passed..).unwrap_or_default();
                    let broken = Some(self.broken(rest, &why));
                    return Inspected { passed, broken, ..Inspected::NOTHING };
                }
            }
            passed = next;
            if self.place == Place::Head {
                self.ahead.clear();
                return Inspected { passed, ends_request: true, broken: None };
            }
        }
    }

    /// Refuses what the decoder accepts and we do not.
    fn check(&self, head: &[u8], request: &Request) -> Result<(), BrokenHead> {
        if has_bare_line_feed(head) {
            return Err(BrokenHead::BareLineFeed);
        }
        if head.len() > self.head_bytes_max {
            return Err(BrokenHead::TooLarge);
        }
        if request.head().headers().contains_key(&MARK) { Err(BrokenHead::Unreadable) } else { Ok(()) }
    }

    fn broken(&self, rest: &[u8], why: &ParseError) -> Broken {
        if self.place == Place::Body {
            return Broken::Body;
        }
        Broken::Head(if matches!(why, ParseError::TooLarge) {
            BrokenHead::TooLarge
        } else if has_bare_line_feed(rest) {
            BrokenHead::BareLineFeed
        } else {
            BrokenHead::Unreadable
        })
    }
}

fn has_bare_line_feed(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| line.ends_with(b"\n") && !line.ends_with(b"\r\n"))
}

#[cfg(test)]
mod tests;
