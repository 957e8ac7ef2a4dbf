//! One value in a tree of settings, as serde reads it. A value of the wrong type is noted, and read as a default of the
//! right type.

use config::{Value, ValueKind};
use serde::de::{Deserializer, Visitor, value::StrDeserializer};

use super::{
    collections::{Choice, Items, Table},
    fault::{Fault, one_of},
    mistake::MistakeKind,
    reader::{Notes, StandIn, Treatment, child_key},
};

/// A value: its key and its content.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    key: String,
    content: Content<'a>,
    notes: &'a Notes,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Given(&'a Value),
    Missing(StandIn),
}

impl<'a> Node<'a> {
    pub(super) fn root(tree: &'a Value, notes: &'a Notes) -> Self {
        Self { key: String::new(), content: Content::Given(tree), notes }
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn is_silent(&self) -> bool {
        match self.content {
            Content::Given(_) => false,
            Content::Missing(stand_in) => stand_in.is_silent,
        }
    }

    /// The value `given` under this key. `None` if the reading skips it.
    fn inside(&self, key: String, given: &'a Value) -> Option<Self> {
        let content = match self.notes.treatment(&key) {
            None => Content::Given(given),
            Some(Treatment::StandIn(stand_in)) => Content::Missing(stand_in),
            Some(Treatment::LeftOut) => return None,
        };
        Some(Self { key, content, notes: self.notes })
    }

    /// The values of the table by name, with the stand-ins for its missing fields.
    fn entries(&self, fields: &[&'static str]) -> Vec<(String, Self)> {
        let mut entries = Vec::new();
        if let Content::Given(Value { kind: ValueKind::Table(table), .. }) = self.content {
            let given = table.iter().filter_map(|(name, value)| {
                self.inside(child_key(&self.key, name), value).map(|node| (name.clone(), node))
            });
            entries.extend(given);
        } else if let Content::Given(_) = self.content {
            self.note("a section is expected");
        }
        for field in fields {
            let key = child_key(&self.key, field);
            if let Some(Treatment::StandIn(stand_in)) = self.notes.treatment(&key)
                && !entries.iter().any(|(name, _node)| name == field)
            {
                let content = Content::Missing(stand_in);
                entries.push(((*field).to_owned(), Self { key, content, notes: self.notes }));
            }
        }
        // The table itself has no order.
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        entries
    }

    /// The values of the list. A missing list yields `wanted` stand-ins.
    fn items(&self, wanted: usize) -> Vec<Self> {
        let key = |index: usize| format!("{}[{index}]", self.key);
        match self.content {
            Content::Given(Value { kind: ValueKind::Array(values), .. }) => {
                let items = values.iter().enumerate();
                items.filter_map(|(index, value)| self.inside(key(index), value)).collect()
            }
            Content::Given(_) => {
                self.note("a list is expected");
                Vec::new()
            }
            Content::Missing(_) => {
                let item = |index| Self { key: key(index), ..self.clone() };
                (0..wanted).map(item).collect()
            }
        }
    }

    fn note(&self, what: &str) {
        self.notes.note(&self.key, MistakeKind::Wrong(what.to_owned()));
    }

    /// An integer within these bounds. 1 if the value is missing or not valid.
    fn integer(&self, least: i128, most: i128) -> i128 {
        let Content::Given(value) = self.content else { return 1 };
        match integer(value) {
            Some(number) if (least..=most).contains(&number) => return number,
            Some(_) => self.note(&format!("an integer from {least} to {most} is expected")),
            None => self.note("an integer is expected"),
        }
        1
    }

    fn float(&self) -> f64 {
        let Content::Given(value) = self.content else { return 1.0 };
        value.clone().into_float().unwrap_or_else(|_not_a_number| {
            self.note("a number is expected");
            1.0
        })
    }

    fn truth(&self) -> bool {
        let Content::Given(value) = self.content else { return false };
        let is_one = matches!(value.kind, ValueKind::Boolean(_) | ValueKind::String(_));
        value.clone().into_bool().ok().filter(|_truth| is_one).unwrap_or_else(|| {
            self.note("true or false is expected");
            false
        })
    }

    fn text(&self) -> String {
        match self.content {
            Content::Missing(stand_in) => stand_in.text().to_owned(),
            Content::Given(value) => value.clone().into_string().unwrap_or_else(|_not_a_text| {
                self.note("a text is expected");
                String::new()
            }),
        }
    }

    fn located<T>(&self, read: Result<T, Fault>) -> Result<T, Fault> {
        read.map_err(|fault| fault.at(&self.key, self.is_silent()))
    }
}

/// Texts from the environment may be integers.
fn integer(value: &Value) -> Option<i128> {
    match &value.kind {
        ValueKind::String(text) => text.parse().ok(),
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => {
            value.clone().into_int128().ok()
        }
        ValueKind::Nil
        | ValueKind::Boolean(_)
        | ValueKind::Float(_)
        | ValueKind::Table(_)
        | ValueKind::Array(_) => None,
    }
}

macro_rules! integers {
    ($($deserialize:ident $visit:ident $number:ty;)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let number = self.integer(<$number>::MIN.into(), <$number>::MAX.into());
            let number = <$number>::try_from(number).map_err(|_out_of_bounds| Fault::wrong("a number"))?;
            self.located(visitor.$visit(number))
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Content::Given(value) = self.content else { return self.deserialize_string(visitor) };
        match &value.kind {
            ValueKind::Nil => self.located(visitor.visit_unit()),
            ValueKind::Boolean(truth) => self.located(visitor.visit_bool(*truth)),
            ValueKind::I64(number) => self.located(visitor.visit_i64(*number)),
            ValueKind::I128(number) => self.located(visitor.visit_i128(*number)),
            ValueKind::U64(number) => self.located(visitor.visit_u64(*number)),
            ValueKind::U128(number) => self.located(visitor.visit_u128(*number)),
            ValueKind::Float(number) => self.located(visitor.visit_f64(*number)),
            ValueKind::String(text) => self.located(visitor.visit_str(text)),
            ValueKind::Table(_) => self.deserialize_map(visitor),
            ValueKind::Array(_) => self.deserialize_seq(visitor),
        }
    }

    integers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_bool(self.truth()))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_f64(self.float()))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_string(self.text()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.content {
            Content::Given(Value { kind: ValueKind::Nil, .. }) => self.located(visitor.visit_none()),
            Content::Given(_) | Content::Missing(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let located = self.clone();
        located.located(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_tuple(0, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_seq(Items::of(self.items(length))))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(visitor.visit_map(Table::of(self.entries(&[]))))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.located(visitor.visit_map(Table::of(self.entries(fields))))
    }

    /// A name alone, or a table with one name and its value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let (name, inside) = match self.content {
            Content::Given(Value { kind: ValueKind::Table(_), .. }) => {
                let [(name, inside)] = <[_; 1]>::try_from(self.entries(&[]))
                    .map_err(|_not_one| Fault::wrong(one_of(variants)).at(&self.key, false))?;
                (name, Some(inside))
            }
            Content::Given(_) => (self.text(), None),
            Content::Missing(stand_in) => {
                let name = variants.first().copied().unwrap_or_default();
                let content = Content::Missing(stand_in.in_silence());
                let inside = Self { key: child_key(&self.key, name), content, notes: self.notes };
                (name.to_owned(), Some(inside))
            }
        };
        let known = variants.iter().copied().find(|known| *known == name);
        let chosen = known.ok_or_else(|| Fault::wrong(one_of(variants))).map(|name| Choice { name, inside });
        let read = chosen.and_then(|choice| visitor.visit_enum(choice));
        self.located(read)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct identifier }
}

/// The name of a setting, as a deserializer.
pub(super) fn name(name: &str) -> StrDeserializer<'_, Fault> {
    serde::de::IntoDeserializer::into_deserializer(name)
}
