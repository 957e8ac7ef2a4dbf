//! The query of the report of sales.

use actix_web::HttpRequest;
use chrono::{DateTime, TimeZone, Utc};
use web::ApiError;

use super::{days::Days, format::Format, limits::REPORT_DAYS_MAX, query::fields_of};
use crate::Endpoint;

/// A requested report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SalesQuery {
    /// Its days.
    pub days: Days,
    /// The format of the answer.
    pub format: Format,
}

/// Reads the query of a request.
pub fn sales_query(
    request: &HttpRequest,
    zone: &impl TimeZone,
    now: DateTime<Utc>,
) -> Result<SalesQuery, ApiError> {
    let fields = fields_of(request.query_string(), Endpoint::Sales)?;
    let format = Format::read(request, &fields, &Format::OF_REPORT)?;
    Ok(SalesQuery { days: Days::read(&fields, zone, now, REPORT_DAYS_MAX)?, format })
}
