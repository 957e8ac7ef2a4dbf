//! Parts of rows that the crates above read too.

use std::time::Duration;

use database::DatabaseError;
use money::Currency;
use vend::Capabilities;

use crate::schema::providers;

/// The columns in which a provider's row declares its connection's capabilities.
#[derive(diesel::Queryable, diesel::QueryableByName, diesel::Selectable)]
#[diesel(table_name = providers, check_for_backend(diesel::pg::Pg))]
pub struct DeclaredRow {
    repeat_is_safe: bool,
    remembers_refusals: bool,
    not_found_counts: bool,
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
    Currency::in_hundredths(code).map_err(|_malformed| DatabaseError::corrupt(table, "currency", id))
}
