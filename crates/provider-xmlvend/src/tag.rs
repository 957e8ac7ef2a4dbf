//! An XML element to be written. Its name includes the namespace prefix.

use std::io;

use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use quick_xml::writer::Writer;

/// An XML element. Text and attributes are escaped when they are written.
pub(crate) struct Tag {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    content: Content,
}

enum Content {
    Nothing,
    Text(String),
    Tags(Vec<Tag>),
}

impl Tag {
    /// An empty element.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), content: Content::Nothing }
    }

    /// The element with one more attribute.
    pub(crate) fn with(mut self, attribute: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((attribute, value.into()));
        self
    }

    /// The element with this text as its content.
    pub(crate) fn saying(mut self, text: impl Into<String>) -> Self {
        self.content = Content::Text(text.into());
        self
    }

    /// The element with these elements as its content.
    pub(crate) fn around(mut self, tags: impl IntoIterator<Item = Tag>) -> Self {
        self.content = Content::Tags(tags.into_iter().collect());
        self
    }

    /// The document that has this element as its root.
    pub(crate) fn into_document(self) -> Vec<u8> {
        let mut document = b"<?xml version=\"1.0\" encoding=\"utf-8\"?>".to_vec();
        self.write(&mut Writer::new(&mut document)).expect("writing to memory does not fail");
        document
    }

    fn write(&self, out: &mut Writer<&mut Vec<u8>>) -> io::Result<()> {
        let mut start = BytesStart::new(self.name);
        start.extend_attributes(self.attributes.iter().map(|(name, value)| (*name, value.as_str())));
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
