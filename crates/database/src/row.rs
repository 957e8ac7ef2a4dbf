//! A row of the server, as Diesel reads it.

use std::{num::NonZeroU32, ops::Range};

use diesel::{
    pg::{Pg, PgValue},
    row::{Field, PartialRow, Row, RowIndex, RowSealed},
};
use tokio_postgres::types::{FromSql, Type};

use crate::error::Source;

/// A row, with the type of each of its columns.
pub(crate) struct ReadRow {
    row: tokio_postgres::Row,
    types: Vec<NonZeroU32>,
}

impl ReadRow {
    pub(crate) fn of(row: tokio_postgres::Row) -> Self {
        let oid = |column: &tokio_postgres::Column| NonZeroU32::new(column.type_().oid());
        let types = row.columns().iter().map(|column| oid(column).unwrap_or(NonZeroU32::MAX)).collect();
        Self { row, types }
    }
}

impl RowSealed for ReadRow {}

impl<'row> Row<'row, Pg> for ReadRow {
    type InnerPartialRow = Self;
    type Field<'field>
        = ReadField<'field>
    where
        Self: 'field,
        'row: 'field;

    fn field_count(&self) -> usize {
        self.row.len()
    }

    fn get<'field, Index>(&'field self, index: Index) -> Option<ReadField<'field>>
    where
        'row: 'field,
        Self: RowIndex<Index>,
    {
        Some(ReadField { row: self, at: self.idx(index)? })
    }

    fn partial_row(&self, range: Range<usize>) -> PartialRow<'_, Self> {
        PartialRow::new(self, range)
    }
}

impl RowIndex<usize> for ReadRow {
    fn idx(&self, at: usize) -> Option<usize> {
        (at < self.row.len()).then_some(at)
    }
}

impl<'name> RowIndex<&'name str> for ReadRow {
    fn idx(&self, name: &'name str) -> Option<usize> {
        self.row.columns().iter().position(|column| column.name() == name)
    }
}

/// One value of a row.
pub(crate) struct ReadField<'row> {
    row: &'row ReadRow,
    at: usize,
}

impl<'row> Field<'row, Pg> for ReadField<'row> {
    fn field_name(&self) -> Option<&str> {
        self.row.row.columns().get(self.at).map(tokio_postgres::Column::name)
    }

    fn value(&self) -> Option<PgValue<'_>> {
        let Bytes(bytes) = self.row.row.try_get(self.at).ok()?;
        Some(PgValue::new(bytes?, self.row.types.get(self.at)?))
    }
}

/// A value in Postgres' binary format. `None` is NULL.
struct Bytes<'row>(Option<&'row [u8]>);

impl<'row> FromSql<'row> for Bytes<'row> {
    fn from_sql(_: &Type, bytes: &'row [u8]) -> Result<Self, Source> {
        Ok(Self(Some(bytes)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Source> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
