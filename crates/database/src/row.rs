//! A row of the server, as Diesel reads it.

use std::{cell::Cell, num::NonZeroU32, ops::Range};

use diesel::{
    pg::{Pg, PgValue},
    row::{Field, PartialRow, Row, RowIndex, RowSealed},
};
use tokio_postgres::types::{FromSql, Type};

use crate::error::Source;

/// The types of the columns of a statement's rows: the same for all of them.
#[derive(Debug)]
pub struct ColumnTypes(Vec<NonZeroU32>);

impl ColumnTypes {
    /// The types of these rows, which one statement returned.
    pub(crate) fn of(rows: &[tokio_postgres::Row]) -> Self {
        let oid = |column: &tokio_postgres::Column| NonZeroU32::new(column.type_().oid());
        let columns = rows.first().map_or(Default::default(), tokio_postgres::Row::columns);
        Self(columns.iter().map(|column| oid(column).unwrap_or(NonZeroU32::MAX)).collect())
    }
}

/// A row, with the type of each of its columns.
pub(crate) struct ReadRow<'types> {
    row: tokio_postgres::Row,
    types: &'types ColumnTypes,
    /// The column after the one that was read last. Structs are mostly read in the order of their statement's columns, so
    /// the search for a name begins there.
    next: Cell<usize>,
}

impl<'types> ReadRow<'types> {
    pub(crate) const fn of(row: tokio_postgres::Row, types: &'types ColumnTypes) -> Self {
        Self { row, types, next: Cell::new(0) }
    }
}

impl RowSealed for ReadRow<'_> {}

impl<'row> Row<'row, Pg> for ReadRow<'_> {
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
        Some(ReadField { row: &self.row, types: self.types, at: self.idx(index)? })
    }

    fn partial_row(&self, range: Range<usize>) -> PartialRow<'_, Self> {
        PartialRow::new(self, range)
    }
}

impl RowIndex<usize> for ReadRow<'_> {
    fn idx(&self, at: usize) -> Option<usize> {
        (at < self.row.len()).then_some(at)
    }
}

impl<'name> RowIndex<&'name str> for ReadRow<'_> {
    fn idx(&self, name: &'name str) -> Option<usize> {
        let columns = self.row.columns();
        let (before, after) = columns.split_at_checked(self.next.get()).unwrap_or((columns, &[]));
        let is_named = |column: &tokio_postgres::Column| column.name() == name;
        let at = match after.iter().position(is_named) {
            Some(further) => before.len().saturating_add(further),
            None => before.iter().position(is_named)?,
        };
        self.next.set(at.saturating_add(1));
        Some(at)
    }
}

/// One value of a row.
pub(crate) struct ReadField<'row> {
    row: &'row tokio_postgres::Row,
    types: &'row ColumnTypes,
    at: usize,
}

impl<'row> Field<'row, Pg> for ReadField<'row> {
    fn field_name(&self) -> Option<&str> {
        self.row.columns().get(self.at).map(tokio_postgres::Column::name)
    }

    fn value(&self) -> Option<PgValue<'_>> {
        let Bytes(bytes) = self.row.try_get(self.at).ok()?;
        Some(PgValue::new(bytes?, self.types.0.get(self.at)?))
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
