//! Writes XML into memory, which cannot fail.

use quick_xml::{
    Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};

/// A document that is being written.
pub(crate) struct Xml {
    writer: Writer<Vec<u8>>,
}

impl Xml {
    pub(crate) fn document() -> Self {
        let mut bytes = Vec::with_capacity(4_096);
        bytes.extend_from_slice(br#"<?xml version="1.0" encoding="utf-8"?>"#);
        Self { writer: Writer::new(bytes) }
    }

    /// An element that holds others.
    pub(crate) fn within(&mut self, name: &str, attributes: &[(&str, &str)], inner: impl FnOnce(&mut Self)) {
        self.write(Event::Start(tag(name, attributes)));
        inner(self);
        self.write(Event::End(BytesEnd::new(name)));
    }

    /// An element that holds nothing.
    pub(crate) fn leaf(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.write(Event::Empty(tag(name, attributes)));
    }

    /// An element that holds text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.text_with(name, &[], text);
    }

    /// An element that has attributes and holds text.
    pub(crate) fn text_with(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.within(name, attributes, |xml| xml.write(Event::Text(BytesText::new(text))));
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.writer.into_inner()
    }

    fn write(&mut self, event: Event<'_>) {
        self.writer.write_event(event).expect("writing into memory cannot fail");
    }
}

fn tag<'a>(name: &'a str, attributes: &[(&str, &str)]) -> BytesStart<'a> {
    BytesStart::new(name).with_attributes(attributes.iter().copied())
}
