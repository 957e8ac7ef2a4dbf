//! A request as a tree of elements with resolved names, independent of prefixes and order.

use quick_xml::{
    NsReader, XmlVersion,
    events::{BytesRef, BytesStart, Event},
    name::{Namespace as Uri, QName, ResolveResult},
};

use super::namespace::{Namespace, SCHEMA_INSTANCE};

/// Deeper than any message of the protocol.
const DEPTH_MAX: usize = 32;

/// An element with its content.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) namespace: Namespace,
    pub(crate) name: String,
    /// The local part of `xsi:type`. Empty if there is none.
    pub(crate) type_name: String,
    attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

/// Why a document is not XML that this server accepts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotXml {
    #[error("the request is not well-formed XML")]
    Syntax(#[from] quick_xml::Error),
    #[error("an attribute is not well-formed")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    #[error("the document ends before its root element does")]
    Incomplete,
    #[error("elements are nested more than {DEPTH_MAX} deep")]
    TooDeep,
    #[error("document types and entities of one's own are not accepted")]
    Forbidden,
    #[error("a prefix is used that no declaration binds")]
    UnboundPrefix,
}

impl Element {
    /// Reads the root element of a document.
    pub(crate) fn read(document: &str) -> Result<Self, NotXml> {
        let mut reader = NsReader::from_str(document);
        let mut open: Vec<Self> = Vec::new();
        loop {
            let event = reader.read_event()?;
            let closed = match event {
                Event::Start(tag) if open.len() < DEPTH_MAX => {
                    open.push(Self::start(&reader, &tag)?);
                    None
                }
                Event::Start(_) => return Err(NotXml::TooDeep),
                Event::Empty(tag) => Some(Self::start(&reader, &tag)?),
                Event::End(_) => open.pop(),
                Event::Text(text) => {
                    append(&mut open, &text.xml10_content());
                    None
                }
                Event::CData(text) => {
                    append(&mut open, &text.xml10_content());
                    None
                }
                Event::GeneralRef(reference) => {
                    append(&mut open, &resolved(&reference)?);
                    None
                }
                Event::DocType(_) => return Err(NotXml::Forbidden),
                Event::Eof => return Err(NotXml::Incomplete),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => None,
            };
            match (closed, open.last_mut()) {
                (Some(element), Some(parent)) => parent.children.push(element),
                (Some(root), None) => return Ok(root),
                (None, _) => {}
            }
        }
    }

    /// The child of this name, if there is one.
    pub(crate) fn child(&self, namespace: Namespace, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.namespace == namespace && child.name == name)
    }

    /// The value of an attribute, if there is one.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn start(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Result<Self, NotXml> {
        let (namespace, name) = reader.resolver().resolve_element(tag.name());
        let mut element = Self {
            namespace: bound(&namespace)?.map_or(Namespace::Foreign, |Uri(uri)| Namespace::of(uri)),
            name: name.into_inner().to_owned(),
            type_name: String::new(),
            attributes: Vec::new(),
            text: String::new(),
            children: Vec::new(),
        };
        for attribute in tag.attributes() {
            let attribute = attribute?;
            if attribute.key.as_namespace_binding().is_some() {
                continue;
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?.into_owned();
            let (namespace, key) = reader.resolver().resolve_attribute(attribute.key);
            if bound(&namespace)? == Some(Uri(SCHEMA_INSTANCE)) && key.into_inner() == "type" {
                let (namespace, type_name) = reader.resolver().resolve(QName(&value), true);
                bound(&namespace)?;
                type_name.into_inner().clone_into(&mut element.type_name);
            } else {
                element.attributes.push((key.into_inner().to_owned(), value));
            }
        }
        Ok(element)
    }
}

fn bound<'n>(namespace: &ResolveResult<'n>) -> Result<Option<Uri<'n>>, NotXml> {
    match namespace {
        ResolveResult::Bound(uri) => Ok(Some(*uri)),
        ResolveResult::Unbound => Ok(None),
        ResolveResult::Unknown(_) => Err(NotXml::UnboundPrefix),
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolved(reference: &BytesRef<'_>) -> Result<String, NotXml> {
    if let Some(character) = reference.resolve_char_ref()? {
        return Ok(character.to_string());
    }
    quick_xml::escape::resolve_predefined_entity(&reference.xml10_content())
        .map(str::to_owned)
        .ok_or(NotXml::Forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_whatever_the_prefix() {
        let prefixed =
            format!(r#"<q:a xmlns:q="{}" n="1"><q:b>x &amp; y</q:b></q:a>"#, super::super::namespace::BASE);
        let bare = format!(r#"<a xmlns="{}" n="1"><b>x &#38; y</b></a>"#, super::super::namespace::BASE);
        for document in [prefixed, bare] {
            let root = Element::read(&document).unwrap();
            assert_eq!(
                (root.namespace, root.name.as_str(), root.attribute("n")),
                (Namespace::Base, "a", Some("1"))
            );
            assert_eq!(root.child(Namespace::Base, "b").unwrap().text, "x & y");
            assert!(root.child(Namespace::Revenue, "b").is_none());
        }
    }

    #[test]
    fn a_type_is_known_by_its_local_name() {
        let xsi = format!(r#"xmlns:xsi="{SCHEMA_INSTANCE}""#);
        let typed = Element::read(&format!(r#"<a {xsi} xmlns:q="u" xsi:type="q:Cash"/>"#)).unwrap();
        assert_eq!(typed.type_name, "Cash");
        let unbound = Element::read(&format!(r#"<a {xsi} xsi:type="q:Cash"/>"#));
        assert!(matches!(unbound, Err(NotXml::UnboundPrefix)));
    }

    #[test]
    fn what_could_blow_up_is_refused() {
        assert!(matches!(Element::read("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), Err(NotXml::Forbidden)));
        assert!(matches!(Element::read("<a>&b;</a>"), Err(NotXml::Forbidden)));
        assert!(matches!(Element::read(&"<a>".repeat(100)), Err(NotXml::TooDeep)));
        assert!(matches!(Element::read("<a>"), Err(NotXml::Incomplete | NotXml::Syntax(_))));
        assert!(Element::read("").is_err());
    }
}
