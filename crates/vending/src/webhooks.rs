//! The webhook endpoints of an organisation. The worker sends; here they are only kept.

use std::time::Duration;

use database::DatabaseError;
use purchase::{Authority, OrganisationId};
use webhook::{Endpoint, EndpointChange, EndpointId, EndpointSettings, SigningKeys};
use webhook_store::{Again, Asked, AttemptRecord, EndpointError, Position, WebhookStore};

use crate::{ReadError, Vending, refusals::internal};

/// Why an endpoint was not added or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The organisation has as many endpoints as it may have.
    #[error("the organisation has as many endpoints as it may have")]
    TooMany,
    /// A fault of this service. It is logged where it happened.
    #[error(transparent)]
    Failed(#[from] ReadError),
}

impl Vending {
    /// The endpoints of an organisation, the oldest first.
    pub async fn webhook_endpoints(&self, organisation: OrganisationId) -> Result<Vec<Endpoint>, ReadError> {
        self.webhooks().list(organisation).await.map_err(|error| failed(&error))
    }

    /// One endpoint, if it is the organisation's.
    pub async fn webhook_endpoint(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
    ) -> Result<Option<Endpoint>, ReadError> {
        self.webhooks().find(organisation, id).await.map_err(|error| failed(&error))
    }

    /// Adds an endpoint, with new keys. Only this answer has them.
    pub async fn add_webhook_endpoint(
        &self,
        authority: &Authority,
        settings: EndpointSettings,
    ) -> Result<(Endpoint, SigningKeys), WebhookError> {
        let keys = new_keys()?;
        let added = self.webhooks().add(authority.organisation, authority.user, settings, &keys).await;
        Ok((added.map_err(not_written)?, keys))
    }

    /// Changes an endpoint. `None` if the organisation has no such endpoint.
    pub async fn change_webhook_endpoint(
        &self,
        authority: &Authority,
        id: EndpointId,
        change: EndpointChange,
    ) -> Result<Option<Endpoint>, ReadError> {
        let changed = self.webhooks().change(authority.organisation, authority.user, id, change).await;
        changed.map_err(|error| failed(&error))
    }

    /// Gives an endpoint new keys; the ones before sign for `overlap`, too. `None` if the organisation has no such endpoint.
    pub async fn rotate_webhook_keys(
        &self,
        authority: &Authority,
        id: EndpointId,
        overlap: Duration,
    ) -> Result<Option<(Endpoint, SigningKeys)>, WebhookError> {
        let keys = new_keys()?;
        let Authority { organisation, user, .. } = *authority;
        let rotated = self.webhooks().rotate_keys(organisation, user, id, &keys, overlap).await;
        Ok(rotated.map_err(not_written)?.map(|endpoint| (endpoint, keys)))
    }

    /// Deletes an endpoint. Whether the organisation had it.
    pub async fn delete_webhook_endpoint(
        &self,
        authority: &Authority,
        id: EndpointId,
    ) -> Result<bool, ReadError> {
        let deleted = self.webhooks().delete(authority.organisation, authority.user, id).await;
        deleted.map_err(|error| failed(&error))
    }

    /// Has a test sent to an endpoint. Returns its event.
    pub async fn test_webhook(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
    ) -> Result<Asked<Position>, ReadError> {
        self.webhooks().ask_for_test(organisation, id).await.map_err(|error| failed(&error))
    }

    /// Has events sent once more to an endpoint, of those from `first` to `last` that it was sent already.
    pub async fn send_events_again(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
        first: Position,
        last: Position,
    ) -> Result<Asked<Again>, ReadError> {
        self.webhooks().ask_again(organisation, id, first, last).await.map_err(|error| failed(&error))
    }

    /// At most `limit` attempts for an endpoint, the newest first, with smaller numbers than `before`. `None` if the organisation
    /// has no such endpoint.
    pub async fn webhook_attempts(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
        before: Option<i64>,
        limit: u16,
    ) -> Result<Option<Vec<AttemptRecord>>, ReadError> {
        self.webhooks().attempts(organisation, id, before, limit).await.map_err(|error| failed(&error))
    }

    fn webhooks(&self) -> WebhookStore {
        WebhookStore::on(&self.0.store)
    }
}

fn new_keys() -> Result<SigningKeys, ReadError> {
    let mut random = zeroize::Zeroizing::new([0; SigningKeys::LENGTH]);
    getrandom::fill(random.as_mut_slice()).map_err(|error| {
        tracing::error!(%error, "no randomness for the keys of a webhook endpoint");
        ReadError::Internal
    })?;
    Ok(SigningKeys::from_random(&random))
}

fn failed(error: &DatabaseError) -> ReadError {
    internal("the webhook endpoints could not be read or changed", error).into()
}

fn not_written(error: EndpointError) -> WebhookError {
    match error {
        EndpointError::TooMany => WebhookError::TooMany,
        EndpointError::Database(error) => failed(&error).into(),
        EndpointError::Sealing(error) => {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, "the keys of a webhook endpoint could not be sealed");
            ReadError::Internal.into()
        }
    }
}
