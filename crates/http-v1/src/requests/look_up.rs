//! A look at the last tokens of a subscriber.

use identity::Caller;
use purchase::{ClientId, LookUp, OrganisationId, UserId};
use vend::SubscriberIdentifier;
use web::{ApiError, Detail};

use super::{
    limits::{LOOK_UP_DAYS, LOOK_UP_DEFAULT, LOOK_UP_MAX},
    query::{fields_of, page_length},
};
use crate::Endpoint;

/// Reads the path and the query of a request.
pub fn look_up(segment: &str, query: &str, caller: &Caller) -> Result<LookUp, ApiError> {
    let subscriber = SubscriberIdentifier::parse(segment)
        .map_err(|cause| ApiError::new(Detail::BadIdentifier).about("id").because(cause))?;
    let limit = page_length(&fields_of(query, Endpoint::LookUp)?, LOOK_UP_MAX)?;
    Ok(LookUp {
        organisation: OrganisationId(caller.organisation.id),
        client: ClientId(caller.client_id),
        user: UserId(caller.user.id),
        subscriber,
        days: LOOK_UP_DAYS,
        limit: limit.unwrap_or(LOOK_UP_DEFAULT),
    })
}
