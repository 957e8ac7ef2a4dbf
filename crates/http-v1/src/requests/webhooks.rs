//! The bodies of the calls about webhook endpoints.

use std::time::Duration;

use feed::EventType;
use web::{ApiError, Detail, Fields};
use webhook::{
    DESTINATION_LENGTH_MAX, Destination, DestinationError, DestinationRules, EndpointChange, EndpointId,
    EndpointSettings,
};

use super::limits::{ENDPOINT_DESCRIPTION_MAX, OVERLAP_HOURS, OVERLAP_HOURS_DEFAULT};
use super::path_id::number;

/// The endpoint named in a path. The answer is 404 if the segment is not spelled as an id.
pub fn webhook_endpoint_in_path(segment: &str) -> Result<EndpointId, ApiError> {
    number(segment).map(EndpointId)
}

/// The body of create.
pub fn new_webhook_endpoint(fields: &Fields, rules: &DestinationRules) -> Result<EndpointSettings, ApiError> {
    let url = fields.required_text("url", DESTINATION_LENGTH_MAX)?;
    Ok(EndpointSettings {
        url: checked(url, rules)?,
        description: fields.optional_text("description", ENDPOINT_DESCRIPTION_MAX)?,
        event_types: event_types(fields)?.unwrap_or_default(),
        include_tokens: fields.optional_flag("include_tokens")?.unwrap_or(false),
    })
}

/// The body of update. An empty `description` removes the one that is there.
pub fn webhook_endpoint_change(
    fields: &Fields,
    rules: &DestinationRules,
) -> Result<EndpointChange, ApiError> {
    let url = fields.optional_text("url", DESTINATION_LENGTH_MAX)?;
    let statuses = [true, false];
    Ok(EndpointChange {
        url: url.map(|url| checked(url, rules)).transpose()?,
        description: fields.text_or_empty("description", ENDPOINT_DESCRIPTION_MAX)?,
        event_types: event_types(fields)?,
        include_tokens: fields.optional_flag("include_tokens")?,
        is_active: fields.optional_one_of(
            "status",
            &statuses,
            |active| if active { "ACTIVE" } else { "PAUSED" },
        )?,
    })
}

/// The body of rotate-secret: how long the old keys sign, too.
pub fn key_overlap(fields: &Fields) -> Result<Duration, ApiError> {
    let hours = match fields.optional_integer("overlap_hours")? {
        None => OVERLAP_HOURS_DEFAULT,
        Some(hours) => {
            u16::try_from(hours).ok().filter(|hours| OVERLAP_HOURS.contains(hours)).ok_or_else(|| {
                let allowed = format!("{}-{}", OVERLAP_HOURS.start(), OVERLAP_HOURS.end());
                ApiError::new(Detail::UnknownValue).about("overlap_hours").with("allowed", allowed)
            })?
        }
    };
    Ok(Duration::from_hours(hours.into()))
}

fn event_types(fields: &Fields) -> Result<Option<Vec<String>>, ApiError> {
    let types = fields.optional_list_of("event_types", &EventType::ALL, EventType::as_str)?;
    Ok(types.map(|types| types.into_iter().map(|one| one.as_str().to_owned()).collect()))
}

fn checked(url: String, rules: &DestinationRules) -> Result<String, ApiError> {
    let detail = match Destination::parse(&url, rules) {
        Ok(_destination) => return Ok(url),
        Err(DestinationError::NotHttps) => Detail::UrlNotHttps,
        Err(DestinationError::NotPublic) => Detail::UrlNotPublic,
        Err(
            DestinationError::Malformed
            | DestinationError::TooLong
            | DestinationError::Credentials
            | DestinationError::Fragment,
        ) => Detail::BadUrl,
    };
    Err(ApiError::new(detail).about("url"))
}
