//! The filters of a list of purchases, as queries and cursors spell them.

use chrono::{DateTime, Datelike, Offset, SecondsFormat, TimeZone, Utc};
use purchase::{PurchaseStatus, Selection};
use vend::SubscriberIdentifier;
use web::{ApiError, Detail, Fields};

use super::limits::{EXTERNAL_REFERENCE_MAX, SHORT_TEXT_MAX, YEARS};

/// Reads the given filters. Times are in `zone`.
pub(super) fn selection(fields: &Fields, zone: &impl TimeZone) -> Result<Selection, ApiError> {
    let time = |name| -> Result<Option<DateTime<Utc>>, ApiError> {
        let read = fields.optional_moment(name, zone)?;
        // The database supports no other years.
        match read.filter(|at| !YEARS.contains(&at.with_timezone(zone).year())) {
            Some(_) => Err(ApiError::new(Detail::BadMoment).about(name)),
            None => Ok(read),
        }
    };
    let subscriber = fields.optional_text("subscriber_identifier", SHORT_TEXT_MAX)?;
    let subscriber = subscriber.map(|text| SubscriberIdentifier::parse(&text)).transpose();
    Ok(Selection {
        external_reference: fields.optional_text("external_reference", EXTERNAL_REFERENCE_MAX)?,
        subscriber: subscriber.map_err(|cause| {
            ApiError::new(Detail::BadIdentifier).about("subscriber_identifier").because(cause)
        })?,
        status: fields.optional_one_of("status", &PurchaseStatus::ALL, PurchaseStatus::as_str)?,
        from: time("from")?,
        to: time("to")?,
    })
}

/// The filters by name, spelled as they are read.
pub(super) fn spelled(selection: &Selection, zone: &impl TimeZone) -> Vec<(&'static str, String)> {
    let Selection { external_reference, subscriber, status, from, to } = selection;
    // In `zone`, in which the year has four digits.
    let time = |moment: &DateTime<Utc>| {
        moment
            .with_timezone(&zone.offset_from_utc_datetime(&moment.naive_utc()).fix())
            .to_rfc3339_opts(SecondsFormat::Micros, false)
    };
    let spelled = [
        ("external_reference", external_reference.clone()),
        ("subscriber_identifier", subscriber.as_ref().map(ToString::to_string)),
        ("status", status.map(|status| status.as_str().to_owned())),
        ("from", from.as_ref().map(time)),
        ("to", to.as_ref().map(time)),
    ];
    spelled.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
