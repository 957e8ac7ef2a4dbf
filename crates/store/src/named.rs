//! Text columns that hold one of a closed set of values, or something else that is parsed. They are read without a copy of
//! the text.

use diesel::{
    deserialize::{self, FromSql},
    pg::{Pg, PgValue},
    sql_types::Text,
};
use money::Currency;
use purchase::{Handling, SourceChannel, StateName};
use rust_decimal::Decimal;
use vend::{CallId, Product, ProviderReference, SubscriberIdentifier};

/// The value that a text column holds. `None` if its text is not the name of a value: only the reader knows the column
/// and the row, so it makes the error.
pub(crate) struct Named<T>(pub(crate) Option<T>);

/// A value that is stored as a text.
pub(crate) trait FromName: Sized {
    fn from_name(name: &str) -> Option<Self>;
}

impl<T: FromName> FromSql<Text, Pg> for Named<T> {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(std::str::from_utf8(value.as_bytes()).ok().and_then(T::from_name)))
    }
}

macro_rules! named {
    ($($value:ty: |$name:ident| $parsed:expr;)+) => {$(
        impl FromName for $value {
            fn from_name($name: &str) -> Option<Self> {
                $parsed
            }
        }
    )+};
}

named! {
    Currency: |code| Self::parse(code).ok();
    Decimal: |number| number.parse().ok();
    Handling: |name| Self::parse(name);
    Product: |name| Self::parse(name);
    ProviderReference: |name| CallId::parse(name).map(Self::new).ok();
    SourceChannel: |name| Self::parse(name);
    StateName: |name| Self::parse(name);
    SubscriberIdentifier: |text| Self::parse(text).ok();
}
