//! Parts of rows that the crates above read too.

use std::time::Duration;

use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{Bool, Integer},
};
use money::Currency;
use vend::Capabilities;

/// The columns in which a provider's row declares its connection's capabilities.
#[derive(QueryableByName)]
pub struct DeclaredRow {
    #[diesel(sql_type = Bool)]
    repeat_is_safe: bool,
    #[diesel(sql_type = Bool)]
    remembers_refusals: bool,
    #[diesel(sql_type = Bool)]
    not_found_counts: bool,
    #[diesel(sql_type = Integer)]
    settles_within_s: i32,
}

impl DeclaredRow {
    pub fn capabilities(&self) -> Capabilities {
        // The database keeps it positive.
        let settles_within = Duration::from_secs(u64::from(self.settles_within_s.unsigned_abs()));
        Capabilities {
            repeat_is_safe: self.repeat_is_safe,
            remembers_refusals: self.remembers_refusals,
            not_found_counts: self.not_found_counts,
            settles_within,
        }
    }
}

/// A currency as stored.
pub fn read_currency(table: &'static str, id: i64, code: &str) -> Result<Currency, DatabaseError> {
    Currency::parse(code).map_err(|_malformed| DatabaseError::corrupt(table, "currency", id))
}
