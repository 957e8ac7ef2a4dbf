//! A reply as a tree of elements with limited size. So nothing is read by position or by namespace prefix.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use crate::names;

const DEPTH_MAX: usize = 32;
const ELEMENTS_MAX: usize = 10_000;
const ATTRIBUTES_MAX: usize = 32;
const UTF_8_BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a reply cannot be read. The error contains no part of the reply, which may have tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("the reply is not UTF-8")]
    NotUtf8,
    #[error("the reply is not well-formed XML")]
    NotXml,
    #[error("the reply nests deeper or is larger than any real one")]
    TooLarge,
    #[error("the reply is not one of the protocol's messages")]
    NotOurs,
    #[error("the reply has more than one {0}")]
    Ambiguous(&'static str),
    #[error("the reply has no {0}")]
    Missing(&'static str),
    #[error("the reply's {0} cannot be read")]
    BadValue(&'static str),
}

/// The vocabulary of a name, as far as the reader distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    XmlVend,
    Soap,
    Unqualified,
    Foreign,
}

/// One element with its content. The content may have tokens, so there is no `Debug` outside tests.
#[cfg_attr(test, derive(Debug, PartialEq, Eq))]
pub(crate) struct Element<'document> {
    name: Cow<'document, str>,
    vocabulary: Vocabulary,
    kind: Option<Cow<'document, str>>,
    attributes: Vec<(Cow<'document, str>, Cow<'document, str>)>,
    text: Cow<'document, str>,
    children: Vec<Self>,
}

impl<'document> Element<'document> {
    /// Reads a complete document and returns its root.
    pub(crate) fn parse(document: &'document [u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(document).map_err(|_position| Malformed::NotUtf8)?;
        let mut reader = NsReader::from_str(text.trim_start_matches(UTF_8_BYTE_ORDER_MARK));
        let mut growing = Growing::default();
        loop {
            let (resolved, event) = reader.read_resolved_event().map_err(|_position| Malformed::NotXml)?;
            match event {
                Event::Start(start) => growing.open(Self::from_start(&resolved, &start, text)?)?,
                Event::Empty(start) => {
                    growing.open(Self::from_start(&resolved, &start, text)?)?;
                    growing.close()?;
                }
                Event::End(_) => growing.close()?,
                Event::Text(written) => growing.write(part_of(text, &written.xml10_content()))?,
                Event::CData(written) => growing.write(part_of(text, &written.xml10_content()))?,
                Event::GeneralRef(entity) => growing.write(Cow::Owned(expand(&entity)?))?,
                Event::DocType(_) => return Err(Malformed::NotXml),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => return growing.finish(),
            }
        }
    }

    fn from_start(
        resolved: &ResolveResult<'_>,
        start: &BytesStart<'_>,
        document: &'document str,
    ) -> Result<Self, Malformed> {
        let vocabulary = match resolved {
            ResolveResult::Unbound => Vocabulary::Unqualified,
            ResolveResult::Bound(namespace) if namespace.0.starts_with(names::XMLVEND_FAMILY) => {
                Vocabulary::XmlVend
            }
            ResolveResult::Bound(namespace) if [names::SOAP_1_1, names::SOAP_1_2].contains(&namespace.0) => {
                Vocabulary::Soap
            }
            ResolveResult::Bound(_) => Vocabulary::Foreign,
            ResolveResult::Unknown(_) => return Err(Malformed::NotXml),
        };
        let mut element = Self {
            name: part_of(document, start.local_name().as_ref()),
            vocabulary,
            kind: None,
            attributes: Vec::new(),
            text: Cow::Borrowed(""),
            children: Vec::new(),
        };
        for (index, attribute) in start.attributes().enumerate() {
            if index == ATTRIBUTES_MAX {
                return Err(Malformed::TooLarge);
            }
            let attribute = attribute.map_err(|_position| Malformed::NotXml)?;
            let value =
                attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|_escape| Malformed::NotXml)?;
            element.take_attribute(attribute.key, &value, document)?;
        }
        Ok(element)
    }

    /// Stores an attribute. An attribute with the local name `type` and any prefix, declared or not, counts as
    /// `xsi:type`, and only the local part of its value is kept. All others must be unqualified, as the protocol's own
    /// attributes are.
    fn take_attribute(
        &mut self,
        name: QName<'_>,
        value: &str,
        document: &'document str,
    ) -> Result<(), Malformed> {
        if name.as_namespace_binding().is_some() {
            return Ok(());
        }
        let (local, prefix) = name.decompose();
        let value = value.trim();
        if local.as_ref() == "type" {
            let kind = value.rsplit_once(':').map_or(value, |(_prefix, local)| local);
            if self.kind.replace(part_of(document, kind)).is_some() {
                return Err(Malformed::Ambiguous("type"));
            }
        } else if prefix.is_none() {
            self.attributes.push((part_of(document, local.as_ref()), part_of(document, value)));
        }
        Ok(())
    }

    /// The local name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The vocabulary of the name.
    pub(crate) const fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The local part of `xsi:type`.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The text directly inside, trimmed. `None` if it is blank.
    pub(crate) fn text(&self) -> Option<&str> {
        Some(self.text.trim()).filter(|text| !text.is_empty())
    }

    /// The value of an attribute, trimmed. `None` if it is absent or blank.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _value)| known == name);
        found.map(|(_name, value)| &**value).filter(|value| !value.is_empty())
    }

    /// Every child element, of any vocabulary.
    pub(crate) fn children(&self) -> &[Self] {
        &self.children
    }

    /// The protocol's children with this name, in document order. A vendor's extension with the same name is another
    /// element.
    pub(crate) fn all(&self, name: &'static str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| {
            child.name == name && matches!(child.vocabulary, Vocabulary::XmlVend | Vocabulary::Unqualified)
        })
    }

    /// The protocol's child with this name. `Ok(None)` if there is none, and an error if there are several.
    pub(crate) fn only(&self, name: &'static str) -> Result<Option<&Self>, Malformed> {
        let mut found = self.all(name);
        let first = found.next();
        if found.next().is_some() { Err(Malformed::Ambiguous(name)) } else { Ok(first) }
    }
}

/// A tree under construction: the open elements, outermost first, and the root after it was closed.
#[derive(Default)]
struct Growing<'document> {
    open: Vec<Element<'document>>,
    root: Option<Element<'document>>,
    count: usize,
}

impl<'document> Growing<'document> {
    fn open(&mut self, element: Element<'document>) -> Result<(), Malformed> {
        if self.root.is_some() {
            return Err(Malformed::NotXml);
        }
        self.count = self.count.saturating_add(1);
        if self.open.len() == DEPTH_MAX || self.count > ELEMENTS_MAX {
            return Err(Malformed::TooLarge);
        }
        self.open.push(element);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Malformed> {
        let closed = self.open.pop().ok_or(Malformed::NotXml)?;
        match self.open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => self.root = Some(closed),
        }
        Ok(())
    }

    fn write(&mut self, text: Cow<'document, str>) -> Result<(), Malformed> {
        match self.open.last_mut() {
            Some(element) if element.text.is_empty() => element.text = text,
            Some(element) => element.text.to_mut().push_str(&text),
            None if text.trim().is_empty() => {}
            None => return Err(Malformed::NotXml),
        }
        Ok(())
    }

    /// The root. An error if an element is still open, as in a truncated reply.
    fn finish(self) -> Result<Element<'document>, Malformed> {
        if self.open.is_empty() { self.root.ok_or(Malformed::NotXml) } else { Err(Malformed::NotXml) }
    }
}

/// The same text as a part of the document, or as a copy if it is not a part of it. The reader returns most texts as parts of
/// the document, but for the lifetime of its own event.
fn part_of<'document>(document: &'document str, text: &str) -> Cow<'document, str> {
    let begins = text.as_ptr().addr().checked_sub(document.as_ptr().addr());
    let part = begins.and_then(|begins| document.get(begins..begins.checked_add(text.len())?));
    part.filter(|part| *part == text).map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed)
}

/// Expands the five entities of XML and numeric character references. Every other entity is an error.
fn expand(entity: &BytesRef<'_>) -> Result<String, Malformed> {
    let by_number = entity.resolve_char_ref().map_err(|_not_a_character| Malformed::NotXml)?;
    if let Some(character) = by_number {
        return Ok(character.to_string());
    }
    resolve_xml_entity(&entity.xml10_content()).map(str::to_owned).ok_or(Malformed::NotXml)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Element<'_>, Malformed> {
        Element::parse(text.as_bytes())
    }

    #[test]
    fn names_are_resolved_and_types_lose_their_prefix() {
        let root = parse(concat!(
            "\u{feff}<?xml version='1.0'?><!-- a note --><x:a xmlns:x='http://www.nrs.eskom.co.za/xmlvend/base/2.1/schema' ",
            "xmlns:s='http://www.w3.org/2001/XMLSchema-instance' s:type='q:Some' id=' 7 ' x:id='8' blank=''>",
            "&lt;&#65;<![CDATA[<B>]]><b xmlns='urn:other'/><x:b/></x:a>"
        ))
        .unwrap();
        assert_eq!((root.name(), root.vocabulary(), root.kind()), ("a", Vocabulary::XmlVend, Some("Some")));
        assert_eq!((root.attribute("id"), root.attribute("blank")), (Some("7"), None));
        assert_eq!(root.text(), Some("<A<B>"));
        assert_eq!(root.all("b").count(), 1, "an element of another vocabulary is not counted");
        assert_eq!(root.children().len(), 2);
    }

    #[test]
    fn a_repeated_element_that_must_be_unique_is_an_error() {
        let root = parse("<a><b/><b/><c/></a>").unwrap();
        assert_eq!(root.only("b"), Err(Malformed::Ambiguous("b")));
        assert_eq!(root.only("c").unwrap().map(Element::name), Some("c"));
        assert_eq!(root.only("d"), Ok(None));
    }

    #[test]
    fn two_types_of_one_element_are_ambiguous() {
        let root = parse("<a xmlns:p='urn:p' p:type='One' type='Other'/>");
        assert_eq!(root, Err(Malformed::Ambiguous("type")));
    }

    /// Vendors send such replies, and what they vended must be read.
    #[test]
    fn what_is_not_quite_xml_but_has_one_meaning_is_read() {
        for text in [
            "\n <?xml version='1.0'?><a><b/></a>",
            "<a xsi:type='Some' v:other='1'><b/></a>",
            "<a><!-- a -- b --><b/></a>\n<!-- the end -->",
            "<a>\u{1}]]><b/></a>",
        ] {
            let read = parse(text);
            assert!(read.is_ok_and(|root| root.name() == "a" && root.all("b").count() == 1), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_is_not_one_complete_document_is_refused() {
        for text in [
            "",
            " ",
            "text",
            "<a>",
            "<a><b></a>",
            "<a/><b/>",
            "<a/>text",
            "</a>",
            "<a b=1/>",
            "<a b='1' b='2'/>",
            "<p:a/>",
            "<a>&nosuch;</a>",
            "<a>&#xFFFFFFFF;</a>",
            "<!DOCTYPE a><a/>",
            "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
            "<a",
            "<a>&",
            "<a b='&nosuch;'/>",
        ] {
            assert_eq!(parse(text), Err(Malformed::NotXml), "{text:?}");
        }
        assert_eq!(Element::parse(b"<a>\xe9</a>"), Err(Malformed::NotUtf8));
    }

    #[test]
    fn depth_and_numbers_are_bounded() {
        let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        assert_eq!(parse(&nested(DEPTH_MAX + 1)), Err(Malformed::TooLarge));
        assert_eq!(parse(&nested(100_000)), Err(Malformed::TooLarge));
        assert_eq!(parse(&format!("<a>{}</a>", "<b/>".repeat(ELEMENTS_MAX))), Err(Malformed::TooLarge));
        let attributes: Vec<String> = (0..=ATTRIBUTES_MAX).map(|number| format!("a{number}='1'")).collect();
        assert_eq!(parse(&format!("<a {}/>", attributes.join(" "))), Err(Malformed::TooLarge));
    }
}
