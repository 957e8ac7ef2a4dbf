//! Confirm: the money path, from top to bottom.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;
use failpoint::{Point, reach};
use provider::Gate;
use purchase::{
    Authority, ConfirmCommand, ConfirmEvent, Fact, Handling, KeyedRequest, PurchaseRequest, Record, Recovery,
    State, StateName,
};
use store::{RecordError, Recorded, Reservation, ReserveError, ReserveRefusal, StoreError, Verdict};
use transcript::Transcribed;
use vend::{ProviderReference, VendOrder};

use crate::admission::Admitted;
use crate::arrival::WaitingCaller;
use crate::backoff::Backoff;
use crate::leases::Lease;
use crate::measures::{self, Sending};
use crate::outcome::{self, About};
use crate::{Arrival, ConfirmError, Desk, Rejection, Vending};

/// How long a caller waits before it asks again for what only a person can mend.
const PERSON_PAUSE: Duration = Duration::from_mins(1);

impl Vending {
    /// Buys.
    ///
    /// The purchase runs on the engine to its end, whatever becomes of the caller; the caller waits for
    /// one vend and a little longer, and is then told that the outcome is unknown.
    pub async fn confirm(
        &self,
        authority: Authority,
        request: PurchaseRequest,
        arrival: Arrival,
    ) -> Result<Box<Record>, ConfirmError> {
        let vending = self.clone();
        // Boxed, because callers carry it about, and the whole story is in it.
        self.wait_for(Box::pin(async move {
            let order = Order { authority, request, keyed: None, arrival };
            vending.0.buy(order).await
        }))
        .await
    }

    /// Has the engine run a confirm to its end, and waits for that as long as a caller is to wait.
    pub(crate) async fn wait_for<T: Send + 'static>(
        &self,
        confirm: impl Future<Output = Result<T, ConfirmError>> + Send + 'static,
    ) -> Result<T, ConfirmError> {
        let confirm = self.0.engine.run(confirm);
        match tokio::time::timeout(self.0.settings.longest_wait(), confirm).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_lost)) => Err(ConfirmError::Unknown(self.0.nothing_is_known())),
            Err(_elapsed) => Err(ConfirmError::Unknown(self.0.nothing_is_known())),
        }
    }
}

/// What is to be bought, in whose name, under which key, and how it was asked for.
pub(crate) struct Order {
    pub(crate) authority: Authority,
    pub(crate) request: PurchaseRequest,
    pub(crate) keyed: Option<KeyedRequest>,
    pub(crate) arrival: Arrival,
}

/// What one confirm remembers between the steps of its protocol.
struct Purchase {
    reservation: Reservation,
    order: VendOrder,
    arrived: Monotonic,
    began: Monotonic,
    backoff: Backoff,
    rejection: Rejection,
    reserved_at: Option<DateTime<Utc>>,
    lease: Option<Lease>,
    /// The outcome that is being put on record, and what the record said.
    outcome: Option<(Fact, Recorded)>,
}

impl Desk {
    pub(crate) async fn buy(&self, order: Order) -> Result<Box<Record>, ConfirmError> {
        let purchase = self.prepare(order).await?;
        self.carry_out(purchase).await
    }

    /// Everything that can be refused without money: price, provider's check, numbers.
    async fn prepare(&self, order: Order) -> Result<Purchase, Rejection> {
        let Order { authority, request, keyed, arrival } = order;
        let Admitted { price, customer, call, sale, .. } =
            self.admit(authority.organisation, &request).await?;
        let (id, reference) = self.next_purchase(self.clock.now()).await?;
        let provider_reference = ProviderReference::new(call);
        let reservation = Reservation {
            id,
            reference,
            authority,
            request,
            price,
            provider_reference,
            subscriber_details: customer.name,
            keyed,
            request_id: arrival.request_id,
            pending: Arc::new(WaitingCaller {
                arrived: arrival.at,
                clock: self.clock.clone(),
                connection: arrival.connection,
            }),
        };
        Ok(Purchase {
            reservation,
            order: VendOrder { reference: provider_reference, sale },
            arrived: arrival.at,
            began: self.clock.monotonic(),
            backoff: Backoff::default(),
            rejection: Rejection::Internal,
            reserved_at: None,
            lease: None,
            outcome: None,
        })
    }

    /// Drives the protocol: does what it says and tells it what came of it.
    async fn carry_out(&self, mut purchase: Purchase) -> Result<Box<Record>, ConfirmError> {
        let (mut protocol, mut command) =
            Transcribed::confirm(purchase.reservation.id, self.settings.timing());
        loop {
            let event = match command {
                ConfirmCommand::Reserve => self.reserve(&mut purchase).await,
                ConfirmCommand::Send => ConfirmEvent::Answered(self.send(&purchase).await),
                ConfirmCommand::Record(fact) => match self.keep(&mut purchase, fact).await {
                    Some(event) => event,
                    None => return Err(ConfirmError::Unknown(self.nothing_is_known())),
                },
                ConfirmCommand::Refuse => return Err(purchase.rejection.into()),
                ConfirmCommand::Answer => return self.answer(purchase).await,
            };
            command = protocol.on(event).expect("each command above is answered with an event of its own");
        }
    }

    async fn reserve(&self, purchase: &mut Purchase) -> ConfirmEvent {
        reach(Point::ConfirmBeforeReserve);
        match self.store.reserve(purchase.reservation.clone()).await {
            Ok(reserved) => {
                reach(Point::ConfirmAfterReserve);
                purchase.reserved_at = Some(reserved.at);
                let (id, fence) = (purchase.reservation.id, reserved.life.fence);
                purchase.lease = Some(self.leases.hold(id, fence, purchase.began));
                ConfirmEvent::Reserved {
                    fence: reserved.life.fence,
                    since_reserve: self.since(purchase.began),
                    since_arrival: self.since(purchase.arrived),
                }
            }
            Err(ReserveError::Refused(refusal)) => {
                purchase.rejection = self.rejection_of(refusal).await;
                ConfirmEvent::ReserveRefused
            }
            Err(ReserveError::Overloaded) => {
                purchase.rejection = Rejection::Overloaded;
                purchase.backoff.pause().await;
                ConfirmEvent::ReserveNotKept
            }
            Err(error @ ReserveError::Failed(_)) => {
                log(&error, "a reserve failed", purchase);
                purchase.backoff.pause().await;
                ConfirmEvent::ReserveNotKept
            }
            Err(error @ ReserveError::Unacknowledged(_)) => {
                log(&error, "a reserve was not acknowledged", purchase);
                purchase.backoff.pause().await;
                ConfirmEvent::ReserveUnacknowledged
            }
        }
    }

    /// One request, behind a gate that the adapter looks at once more before the order leaves.
    async fn send(&self, purchase: &Purchase) -> vend::VendOutcome {
        let timing = self.settings.timing();
        let (clock, began, arrived) = (self.clock.clone(), purchase.began, purchase.arrived);
        let gate = Gate::while_true(move || {
            let now = clock.monotonic();
            let open = now.elapsed_since(began) <= timing.gate && now.elapsed_since(arrived) <= timing.intake;
            reach(Point::OrderLeaves);
            open
        });
        reach(Point::ConfirmBeforeSend);
        measures::sends(&purchase.reservation.request.provider_code, Sending::First);
        match self.provider(&purchase.reservation.request.provider_code) {
            Some(provider) => provider.vend(&purchase.order, &gate).await,
            None => vend::VendOutcome::Refused(vend::Refusal::because(vend::RefusalReason::NeverSent)),
        }
    }

    /// Puts the outcome on record; again and again until somebody says how it stands.
    async fn keep(&self, purchase: &mut Purchase, fact: Fact) -> Option<ConfirmEvent> {
        let reservation = &purchase.reservation;
        let of = reservation.authority.organisation;
        reach(Point::ConfirmAnswered);
        match self.store.record(reservation.id, of, fact.clone()).await {
            Ok(recorded) => {
                reach(Point::ConfirmAfterRecord);
                outcome::tell(&About::reserved(reservation, purchase.reserved_at), &fact, &recorded);
                purchase.outcome = Some((fact, recorded));
                Some(ConfirmEvent::Recorded)
            }
            Err(error @ (RecordError::Unacknowledged(_) | RecordError::Sealing(_))) => {
                log(&error, "an outcome was not acknowledged", purchase);
                purchase.backoff.pause().await;
                Some(ConfirmEvent::RecordUnacknowledged)
            }
            Err(error @ RecordError::NoSuchPurchase) => {
                log(&error, "an acknowledged reserve has vanished", purchase);
                None
            }
        }
    }

    /// As the record stands, whoever brought it there.
    async fn answer(&self, purchase: Purchase) -> Result<Box<Record>, ConfirmError> {
        let record = match purchase.success() {
            Some(record) => record,
            None => self.store.get_record(purchase.reservation.id).await.map_err(|error| {
                log(&error, "a purchase could not be read back", &purchase);
                self.unread(&error)
            })?,
        };
        let record = Box::new(record);
        match record.life.state.name() {
            StateName::Successful => Ok(record),
            StateName::Failed => Err(ConfirmError::Failed(record)),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                match record.life.handling {
                    Handling::Managed => Ok(record),
                    Handling::SelfManaged => {
                        let recovery = record.recovery.unwrap_or_else(|| self.nothing_is_known());
                        Err(ConfirmError::Unknown(recovery))
                    }
                }
            }
        }
    }

    /// What a caller does about a purchase of which nothing can be said: ask soon.
    pub(crate) fn nothing_is_known(&self) -> Recovery {
        Recovery::unknown(self.clock.now(), &self.settings.timing())
    }

    /// What a caller does about a purchase whose token cannot be opened: ask now and then, until a person has mended it.
    pub(crate) fn a_person_must_act(&self) -> Recovery {
        let at = self.clock.now();
        Recovery { at, not_before: at + PERSON_PAUSE, resolved_by: None }
    }

    /// What is told about a purchase that the store does not give.
    pub(crate) fn unread(&self, error: &StoreError) -> ConfirmError {
        if matches!(error, StoreError::TokenUnreadable { .. }) {
            ConfirmError::TokenUnreadable(self.a_person_must_act())
        } else {
            ConfirmError::Unknown(self.nothing_is_known())
        }
    }

    /// Why nothing was reserved, with what the caller needs to know of the purchase that is in the way.
    ///
    /// A crowd for one subscriber is refused at once. Few of it look at the purchase at a time, so that others find a free
    /// connection to the database; the rest is told to ask soon.
    async fn rejection_of(&self, refusal: ReserveRefusal) -> Rejection {
        let found = match (&refusal, self.looks.try_acquire()) {
            (ReserveRefusal::Pending { open: Some(id) }, Ok(_looking)) => {
                self.store.get_record(*id).await.ok()
            }
            _any => None,
        };
        let recovery = found.and_then(|record| record.recovery);
        Rejection::of(refusal, recovery.unwrap_or_else(|| self.nothing_is_known()))
    }

    pub(crate) fn since(&self, instant: Monotonic) -> Duration {
        self.clock.monotonic().elapsed_since(instant)
    }
}

impl Purchase {
    /// The record of a success that this confirm has just written: nothing needs to be read back. Evidence
    /// that came too late moves something too, but not the purchase.
    fn success(&self) -> Option<Record> {
        let (Fact::Vended { vend }, recorded) = self.outcome.as_ref()? else { return None };
        let is_paid_for = matches!(
            &recorded.life.state,
            State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction
        );
        let created_at = self.reserved_at.filter(|_| is_paid_for && recorded.verdict == Verdict::Moved)?;
        Some(self.reservation.record(created_at, recorded.life.clone(), vend))
    }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str, purchase: &Purchase) {
    tracing::error!(cause = error, purchase = purchase.reservation.id.0, "{what}");
}
