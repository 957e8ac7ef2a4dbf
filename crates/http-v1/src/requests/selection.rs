//! The filters of a list of purchases, as queries and cursors spell them.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeZone, Utc};
use purchase::{PurchaseStatus, Selection};
use vend::SubscriberIdentifier;
use web::{ApiError, Detail, Fields, date_time};

use super::limits::{EXTERNAL_REFERENCE_MAX, SHORT_TEXT_MAX, YEARS};

/// Reads the given filters. Times are in `zone`.
pub(super) fn selection(fields: &Fields, zone: &impl TimeZone) -> Result<Selection, ApiError> {
    let time = |name| -> Result<Option<DateTime<Utc>>, ApiError> {
        let Some(local) = fields.optional_date_time(name)? else { return Ok(None) };
        let read = moment(local, zone).ok_or_else(|| ApiError::new(Detail::BadTime).about(name));
        read.map(Some)
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

/// The filters by name, spelled as they were read.
pub(super) fn spelled(selection: &Selection, zone: &impl TimeZone) -> Vec<(&'static str, String)> {
    let Selection { external_reference, subscriber, status, from, to } = selection;
    let time = |moment: &DateTime<Utc>| date_time(moment.with_timezone(zone).naive_local());
    let spelled = [
        ("external_reference", external_reference.clone()),
        ("subscriber_identifier", subscriber.as_ref().map(ToString::to_string)),
        ("status", status.map(|status| status.as_str().to_owned())),
        ("from", from.as_ref().map(time)),
        ("to", to.as_ref().map(time)),
    ];
    spelled.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A local time that occurs twice, because clocks are set back, is the earlier one. `None` if it never occurs.
fn moment(local: NaiveDateTime, zone: &impl TimeZone) -> Option<DateTime<Utc>> {
    // The database supports no other years.
    let moment = zone.from_local_datetime(&local).earliest().filter(|_| YEARS.contains(&local.year()))?;
    Some(moment.with_timezone(&Utc))
}
