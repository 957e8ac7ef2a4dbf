//! Confirm under an idempotency key: what was bought under it is told again, and not bought again.

use clock::Monotonic;
use purchase::{
    Authority, ClientId, IdempotencyKey, KeyedRequest, PurchaseRequest, Record, RequestHash, StateName,
};
use store::StoreError;

use crate::confirm::Order;
use crate::{ConfirmError, Desk, Rejection, Vending};

/// What a confirm under a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Bought now.
    Now(Box<Record>),
    /// Bought by an earlier confirm under the same key.
    Before(Box<Record>),
}

impl Vending {
    /// Buys as [`Vending::confirm`] does, once for each key of the caller's client.
    ///
    /// While the purchase that holds the key is open, the answer is [`Rejection::Pending`]; once it has ended, its final
    /// answer; and [`Rejection::KeyReused`], if something else was asked for under the key. The provider is not asked.
    pub async fn confirm_once(
        &self,
        authority: Authority,
        key: IdempotencyKey,
        request: PurchaseRequest,
        arrived: Monotonic,
    ) -> Result<Confirmed, ConfirmError> {
        let vending = self.clone();
        self.wait_for(async move {
            let keyed = KeyedRequest { key, hash: RequestHash::of(&request) };
            vending.0.buy_once(Order { authority, request, keyed: None, arrived }, keyed).await
        })
        .await
    }
}

impl Desk {
    /// The key is looked up before anything that can refuse. A refusal is given only if the key is still free after it:
    /// somebody else may have bought under it meanwhile, and then there is one answer for both.
    async fn buy_once(&self, order: Order, keyed: KeyedRequest) -> Result<Confirmed, ConfirmError> {
        let client = order.authority.client;
        // What an earlier confirm did under the key is not known, so nothing may be said that invites another purchase.
        let bought_before = self.bought_before(client, &keyed).await.map_err(|error| {
            log(&error, "an idempotency key could not be looked up");
            ConfirmError::Unknown
        })?;
        if let Some(answer) = bought_before {
            return answer;
        }
        let order = Order { keyed: Some(keyed.clone()), ..order };
        let rejection = match Box::pin(self.buy(order)).await {
            Err(ConfirmError::Rejected(rejection)) => rejection,
            outcome => return outcome.map(Confirmed::Now),
        };
        match self.bought_before(client, &keyed).await {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(rejection.into()),
            Err(error) => {
                log(&error, "an idempotency key could not be looked up again");
                Err(rejection.into())
            }
        }
    }

    /// The answer about the purchase that holds the key, if one does.
    async fn bought_before(
        &self,
        client: ClientId,
        keyed: &KeyedRequest,
    ) -> Result<Option<Result<Confirmed, ConfirmError>>, StoreError> {
        let Some(holder) = self.store.find_key_holder(client, keyed.key.clone()).await? else {
            return Ok(None);
        };
        if holder.request != keyed.hash {
            return Ok(Some(Err(Rejection::KeyReused.into())));
        }
        let answer = match holder.state {
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                Err(Rejection::Pending.into())
            }
            StateName::Successful => {
                Ok(Confirmed::Before(Box::new(self.store.get_record(holder.purchase).await?)))
            }
            StateName::Failed => {
                Err(ConfirmError::FailedBefore(Box::new(self.store.get_record(holder.purchase).await?)))
            }
        };
        Ok(Some(answer))
    }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str) {
    tracing::error!(cause = error, "{what}");
}
