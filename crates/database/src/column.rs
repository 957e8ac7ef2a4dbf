//! One column of many rows, bound as an array.
//!
//! Diesel writes an array too. But it wants the elements in a list of their own, and it grows two buffers for each array.
//! The statements of the money path bind some hundred arrays for one purchase.

use std::{cell::Cell, fmt, io::Write};

use chrono::{DateTime, Utc};
use diesel::{
    pg::Pg,
    serialize::{self, IsNull, Output, ToSql},
    sql_types::{Array, BigInt, Bool, Bytea, HasSqlType, Integer, Nullable, SmallInt, Text, Timestamptz},
};

/// Microseconds from 1970 to 2000, from which Postgres counts.
const EPOCH: i64 = 946_684_800_000_000;

thread_local! {
    /// Arrays are put together here, so that each is written to its parameter at once.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A larger array does not leave its memory to the next one.
const SCRATCH_BYTES_MAX: usize = 64 * 1024;

/// One column of many rows. See [`column()`].
pub struct Column<'rows, Row, Value> {
    rows: &'rows [Row],
    value: Value,
}

/// One column of many rows, to be bound as an array. The statement joins the arrays again with `unnest`.
pub const fn column<'rows, Row, Value, Of>(rows: &'rows [Row], value: Of) -> Column<'rows, Row, Of>
where
    Of: Fn(&'rows Row) -> Value,
{
    Column { rows, value }
}

/// A value that can be an element of a [`column()`].
pub trait Element<SqlType> {
    /// Passes the value in Postgres' binary format to `write`: `None` is NULL.
    fn write(&self, write: impl FnOnce(Option<&[u8]>));
}

macro_rules! elements {
    ($($value:ty as $sql:ty: |$element:ident| $bytes:expr;)+) => {$(
        impl Element<$sql> for $value {
            fn write(&self, write: impl FnOnce(Option<&[u8]>)) {
                let $element = self;
                write(Some($bytes));
            }
        }
    )+};
}

elements! {
    i64 as BigInt: |number| &number.to_be_bytes();
    i32 as Integer: |number| &number.to_be_bytes();
    i16 as SmallInt: |number| &number.to_be_bytes();
    bool as Bool: |flag| &[u8::from(*flag)];
    &str as Text: |text| text.as_bytes();
    String as Text: |text| text.as_bytes();
    &[u8] as Bytea: |bytes| bytes;
    DateTime<Utc> as Timestamptz: |at| &at.timestamp_micros().saturating_sub(EPOCH).to_be_bytes();
}

impl<SqlType, Value: Element<SqlType>> Element<Nullable<SqlType>> for Option<Value> {
    fn write(&self, write: impl FnOnce(Option<&[u8]>)) {
        match self {
            Some(value) => value.write(write),
            None => write(None),
        }
    }
}

impl<'rows, SqlType, Row, Of, Value> ToSql<Array<SqlType>, Pg> for Column<'rows, Row, Of>
where
    Pg: HasSqlType<SqlType>,
    Of: Fn(&'rows Row) -> Value,
    Value: Element<SqlType>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let element = <Pg as HasSqlType<SqlType>>::metadata(out.metadata_lookup()).oid()?;
        let number = i32::try_from(self.rows.len())?;
        let mut array = SCRATCH.take();
        array.clear();
        let (dimensions, flags, lower_bound) = (1_i32, 0_i32, 1_i32);
        for part in [dimensions, flags] {
            array.extend(part.to_be_bytes());
        }
        array.extend(element.to_be_bytes());
        for part in [number, lower_bound] {
            array.extend(part.to_be_bytes());
        }
        for row in self.rows {
            (self.value)(row).write(|value| {
                // Longer than a message can be, so the server refuses it.
                let length = value.map_or(-1, |bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX));
                array.extend(length.to_be_bytes());
                array.extend_from_slice(value.unwrap_or_default());
            });
        }
        out.write_all(&array)?;
        if array.capacity() <= SCRATCH_BYTES_MAX {
            SCRATCH.set(array);
        }
        Ok(IsNull::No)
    }
}

impl<Row, Value> fmt::Debug for Column<'_, Row, Value> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a column of {} rows", self.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use diesel::QueryableByName;

    use super::*;
    use crate::{Run, Statement, prepared, test_database::database};

    struct Join;

    impl Statement for Join {
        const SQL: &str = "SELECT r.* FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
            WITH ORDINALITY AS r (big, plain, small, flag, text, bytes, at, maybe, place) ORDER BY r.place";
    }

    #[derive(Clone, Debug, PartialEq, QueryableByName)]
    struct Line {
        #[diesel(sql_type = BigInt)]
        big: i64,
        #[diesel(sql_type = Integer)]
        plain: i32,
        #[diesel(sql_type = SmallInt)]
        small: i16,
        #[diesel(sql_type = Bool)]
        flag: bool,
        #[diesel(sql_type = Text)]
        text: String,
        #[diesel(sql_type = Bytea)]
        bytes: Vec<u8>,
        #[diesel(sql_type = Timestamptz)]
        at: DateTime<Utc>,
        #[diesel(sql_type = Nullable<Text>)]
        maybe: Option<String>,
    }

    #[tokio::test]
    async fn the_columns_of_many_rows_arrive_as_these_rows() {
        let (database, _local) = database().await;
        let line = |big, text: &str, at, maybe: Option<&str>| Line {
            big,
            plain: -7,
            small: i16::MAX,
            flag: big > 0,
            text: text.to_owned(),
            bytes: text.as_bytes().to_vec(),
            at: DateTime::from_timestamp_micros(at).unwrap(),
            maybe: maybe.map(ToOwned::to_owned),
        };
        let lines = [
            line(i64::MIN, "", 0, None),
            line(1, "one \u{20ac}, two", 1_795_172_400_123_456, Some("")),
            line(2, &"long ".repeat(100), -1, Some("there")),
        ];
        for rows in [0, 1, 3] {
            let sent = lines.get(..rows).unwrap();
            let joined: Vec<Line> = prepared::<Join>()
                .bind::<Array<BigInt>, _>(column(sent, |line| line.big))
                .bind::<Array<Integer>, _>(column(sent, |line| line.plain))
                .bind::<Array<SmallInt>, _>(column(sent, |line| line.small))
                .bind::<Array<Bool>, _>(column(sent, |line| line.flag))
                .bind::<Array<Text>, _>(column(sent, |line| line.text.as_str()))
                .bind::<Array<Bytea>, _>(column(sent, |line| line.bytes.as_slice()))
                .bind::<Array<Timestamptz>, _>(column(sent, |line| line.at))
                .bind::<Array<Nullable<Text>>, _>(column(sent, |line| line.maybe.as_deref()))
                .load(&database.get().await.unwrap())
                .await
                .unwrap();
            assert_eq!(joined, sent);
        }
    }
}
