//! An XML element to be written. Its name includes the namespace prefix.

use std::{borrow::Cow, io};

use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use quick_xml::writer::Writer;

/// More than most messages have. A message is written into one buffer, which would otherwise be copied each time it grows.
const LIKELY_BYTES: usize = 2 * 1024;

/// More than most start tags have.
const LIKELY_START_BYTES: usize = 192;

/// An XML element. Text and attributes are escaped when they are written.
pub(crate) struct Tag<'a> {
    name: &'static str,
    attributes: Vec<(&'static str, Cow<'a, str>)>,
    content: Content<'a>,
}

enum Content<'a> {
    Nothing,
    Text(&'a str),
    Tags(Vec<Tag<'a>>),
}

impl<'a> Tag<'a> {
    /// An empty element.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), content: Content::Nothing }
    }

    /// The element with one more attribute.
    pub(crate) fn with(mut self, attribute: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.attributes.push((attribute, value.into()));
        self
    }

    /// The element with this text as its content.
    pub(crate) fn saying(mut self, text: &'a str) -> Self {
        self.content = Content::Text(text);
        self
    }

    /// The element with these elements as its content.
    pub(crate) fn around(mut self, tags: impl IntoIterator<Item = Self>) -> Self {
        self.content = Content::Tags(tags.into_iter().collect());
        self
    }

    /// The document that has this element as its root.
    pub(crate) fn into_document(self) -> Vec<u8> {
        let mut document = Vec::with_capacity(LIKELY_BYTES);
        document.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"utf-8\"?>");
        self.write(&mut Writer::new(&mut document)).expect("writing to memory does not fail");
        document
    }

    fn write(&self, out: &mut Writer<&mut Vec<u8>>) -> io::Result<()> {
        let mut content = String::with_capacity(LIKELY_START_BYTES);
        content.push_str(self.name);
        let mut start = BytesStart::from_content(content, self.name.len());
        start.extend_attributes(self.attributes.iter().map(|(name, value)| (*name, &**value)));
        match &self.content {
            Content::Nothing => return out.write_event(Event::Empty(start)),
            Content::Text(text) => {
                out.write_event(Event::Start(start))?;
                out.write_event(Event::Text(BytesText::new(text)))?;
            }
            Content::Tags(tags) => {
                out.write_event(Event::Start(start))?;
                for tag in tags {
                    tag.write(out)?;
                }
            }
        }
        out.write_event(Event::End(BytesEnd::new(self.name)))
    }
}
