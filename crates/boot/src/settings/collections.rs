//! Sections, lists and choices in a tree of settings, as serde reads them.

use std::{collections::VecDeque, vec};

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::{
    fault::Fault,
    node::{Node, name},
};

/// A section: values by name.
pub(super) struct Table<'a>(VecDeque<(String, Node<'a>)>);

/// A list: values in order.
pub(super) struct Items<'a>(vec::IntoIter<Node<'a>>);

/// One of several names, and the value that belongs to it, if any.
pub(super) struct Choice<'a> {
    pub(super) name: &'static str,
    pub(super) inside: Option<Node<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(entries: Vec<(String, Node<'a>)>) -> Self {
        Self(entries.into())
    }
}

impl<'a> Items<'a> {
    pub(super) fn of(nodes: Vec<Node<'a>>) -> Self {
        Self(nodes.into_iter())
    }
}

impl<'de> MapAccess<'de> for Table<'_> {
    type Error = Fault;

    /// The fault of an unknown name is located at the value under that name.
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self.0.front() else { return Ok(None) };
        let read = seed.deserialize(name(key)).map_err(|fault| fault.at(node.key(), node.is_silent()));
        read.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (_key, node) = self.0.pop_front().ok_or_else(|| Fault::wrong("a value is expected"))?;
        seed.deserialize(node)
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}

impl<'de> EnumAccess<'de> for Choice<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        seed.deserialize(name(self.name)).map(|variant| (variant, self))
    }
}

impl<'a> Choice<'a> {
    fn inside(self) -> Result<Node<'a>, Fault> {
        self.inside
            .ok_or_else(|| Fault::wrong(format!("`{}` is expected as a section of its own", self.name)))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.inside()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.inside()?.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.inside()?.deserialize_struct("", fields, visitor)
    }
}
