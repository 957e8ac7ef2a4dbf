//! Confirm: the whole path of the money.
//!
//! There are two entry points. [`Vending::confirm`] is for a confirm without an idempotency key, and
//! [`Vending::confirm_once`] in `replay.rs` is for one with a key. Both run `Service::buy` on the engine: it prepares
//! the purchase, and then drives the protocol `purchase::Confirm`.
//!
//! The protocol commits twice: the reserve before the order is sent, and the record of its outcome. There are two
//! gates between the commits. The protocol checks the first one after the reserve is acknowledged
//! (`purchase/src/confirm.rs`, `after_reserve`). The adapter checks the second one, which `Service::send` makes, when
//! its connection is open and the first byte of the order is about to be sent (`provider-http/src/body.rs`). Both
//! gates check the same two limits: `gate` since before the reserve, and `intake` since the request's arrival. The
//! command to send carries the nearer of them.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use clock::Monotonic;
use database::DatabaseError;
use failpoint::{Point, hit};
use provider::Gate;
use purchase::{
    Authority, ConfirmCommand, ConfirmInput, Event, Handling, KeyedRequest, PurchaseId, PurchaseRequest,
    Record, Recovery, State, StateName,
};
use store::{BatchClaim, RecordError, Recorded, Reservation, ReserveError, ReserveRefusal, Verdict};
use traces::{LaneMark, Name, PurchaseTrace, SpanEnd};
use transcript::Transcribed;
use vend::{ProviderReference, VendOrder};

use crate::{
    Arrival, ConfirmError, Rejection, Service, Vending,
    admission::Admitted,
    arrival::WaitingCaller,
    backoff::Backoff,
    leases::Lease,
    measures::{self, Sending},
    outcome::{self, About},
    spans,
};

/// How long a caller waits before it asks again about a fault that only a person can repair.
const PERSON_PAUSE: Duration = Duration::from_mins(1);

impl Vending {
    /// Makes a purchase.
    ///
    /// The purchase runs on the engine to its end, no matter what happens to the caller. The caller waits for one
    /// vend and a little longer. After that it is answered that the outcome is unknown.
    pub async fn confirm(
        &self,
        authority: Authority,
        request: PurchaseRequest,
        arrival: Arrival,
    ) -> Result<Box<Record>, ConfirmError> {
        let vending = self.clone();
        // Boxed, because the future is large and callers move it.
        self.wait_for(Box::pin(async move {
            let confirm = ConfirmRequest { authority, request, batch: None, arrival };
            vending.0.buy(confirm, None).await
        }))
        .await
    }

    /// Runs a confirm on the engine to its end, and waits for it for at most `longest_wait`.
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

/// A confirm: the request, the identity of the caller, the line of a batch that it is for, and the arrival.
pub(crate) struct ConfirmRequest {
    pub(crate) authority: Authority,
    pub(crate) request: PurchaseRequest,
    pub(crate) batch: Option<BatchClaim>,
    pub(crate) arrival: Arrival,
}

/// The data of one confirm between the steps of its protocol.
struct ConfirmContext {
    reservation: Arc<Reservation>,
    order: VendOrder,
    arrived: Monotonic,
    reserve_began: Monotonic,
    backoff: Backoff,
    trace: PurchaseTrace,
    lane: LaneMark,
    /// When the check of the customer began and ended, if traces are on.
    checked: Option<(Monotonic, Monotonic)>,
    reserved_at: Option<DateTime<Utc>>,
    lease: Option<Lease>,
    /// The outcome that was recorded, and the result of recording it.
    outcome: Option<(Event, Recorded)>,
}

impl Service {
    /// Buys once, under the idempotency key if there is one.
    pub(crate) async fn buy(
        &self,
        confirm: ConfirmRequest,
        keyed: Option<KeyedRequest>,
    ) -> Result<Box<Record>, ConfirmError> {
        let context = self.prepare(confirm, keyed).await?;
        self.carry_out(context).await
    }

    /// Everything that can be refused without money: the price, the provider's check, the numbers.
    async fn prepare(
        &self,
        confirm: ConfirmRequest,
        keyed: Option<KeyedRequest>,
    ) -> Result<ConfirmContext, Rejection> {
        let ConfirmRequest { authority, request, batch, arrival } = confirm;
        let Admitted { price, customer, checked, call, sale, .. } =
            self.prepare_sale(authority.organisation, &request).await?;
        let (id, reference) = self.next_purchase(self.clock.now()).await?;
        let trace = self.traces.of(id.0, reference.as_str());
        arrival.trace.about(&trace);
        let lane = trace.lane_mark();
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
            batch,
            request_id: arrival.request_id,
            pending: Arc::new(WaitingCaller {
                arrived: arrival.at,
                clock: self.clock.clone(),
                connection: arrival.connection,
                lane: lane.clone(),
            }),
        };
        Ok(ConfirmContext {
            reservation: Arc::new(reservation),
            order: VendOrder { reference: provider_reference, sale },
            arrived: arrival.at,
            reserve_began: self.clock.monotonic(),
            backoff: Backoff::seeded(id.0.unsigned_abs()),
            trace,
            lane,
            checked,
            reserved_at: None,
            lease: None,
            outcome: None,
        })
    }

    /// Drives the protocol: runs each command and passes the result back.
    async fn carry_out(&self, mut context: ConfirmContext) -> Result<Box<Record>, ConfirmError> {
        let (mut protocol, mut command) =
            Transcribed::confirm::<Rejection>(context.reservation.id, self.settings.timing());
        loop {
            let input = match command {
                ConfirmCommand::Reserve => self.reserve(&mut context).await,
                ConfirmCommand::Send { leave_within } => {
                    ConfirmInput::Answered(self.send(&context, leave_within).await)
                }
                ConfirmCommand::Record(event) => match self.record_outcome(&mut context, event).await {
                    Some(input) => input,
                    None => return Err(ConfirmError::Unknown(self.nothing_is_known())),
                },
                ConfirmCommand::Refuse(rejection) => return Err(rejection.into()),
                ConfirmCommand::Answer => return self.answer(context).await,
            };
            command = protocol.on(input).expect("each command above yields an input that is due");
        }
    }

    async fn reserve(&self, context: &mut ConfirmContext) -> ConfirmInput<Rejection> {
        hit(Point::ConfirmBeforeReserve);
        match self.store.reserve(context.reservation.clone()).await {
            Ok(reserved) => {
                hit(Point::ConfirmAfterReserve);
                context.reserved_at = Some(reserved.at);
                context.report_reserve();
                let (id, fence) = (context.reservation.id, reserved.lifecycle.fence);
                context.lease = Some(self.leases.hold(id, fence, context.reserve_began));
                // One reading: the process may be suspended between two.
                let now = self.clock.monotonic();
                let since_reserve = now.elapsed_since(context.reserve_began);
                ConfirmInput::Reserved {
                    fence,
                    is_new: reserved.is_new,
                    since_reserve,
                    since_arrival: now.elapsed_since(context.arrived),
                }
            }
            Err(ReserveError::Refused(refusal)) => {
                ConfirmInput::ReserveRefused(self.rejection_of(refusal, &context.reservation).await)
            }
            Err(ReserveError::Overloaded) => {
                context.backoff.pause().await;
                ConfirmInput::ReserveNotCommitted(Rejection::Overloaded)
            }
            Err(error @ ReserveError::Failed(_)) => {
                log(&error, "a reserve failed", context.reservation.id);
                context.backoff.pause().await;
                ConfirmInput::ReserveNotCommitted(Rejection::Internal)
            }
            Err(error @ ReserveError::Unacknowledged(_)) => {
                log(&error, "a reserve was not acknowledged", context.reservation.id);
                context.backoff.pause().await;
                ConfirmInput::ReserveUnacknowledged
            }
        }
    }

    /// Sends one request, with the second gate: the adapter checks it before the order leaves.
    async fn send(&self, context: &ConfirmContext, leave_within: Duration) -> vend::VendOutcome {
        let (clock, began) = (self.clock.clone(), context.reserve_began);
        let gate = Gate::while_true(move || {
            let open = clock.monotonic().elapsed_since(began) <= leave_within;
            hit(Point::OrderLeaves);
            open
        });
        hit(Point::ConfirmBeforeSend);
        measures::sends(&context.reservation.request.provider_code, Sending::First);
        let span = context.trace.begin(Name::Send);
        let outcome = match self.provider(&context.reservation.request.provider_code) {
            Some(provider) => provider.vend(&context.order, &gate).await,
            None => vend::VendOutcome::Refused(vend::Refusal::because(vend::RefusalReason::NeverSent)),
        };
        span.end(|| spans::sent(&context.reservation.request.provider_code, Sending::First, &outcome));
        outcome
    }

    /// Runs the record of the outcome once. The protocol repeats it until the store acknowledges a state. `None` if the
    /// purchase has vanished.
    async fn record_outcome(
        &self,
        context: &mut ConfirmContext,
        event: Event,
    ) -> Option<ConfirmInput<Rejection>> {
        let reservation = &context.reservation;
        let of = reservation.authority.organisation;
        hit(Point::ConfirmAnswered);
        let (span, kind) = (context.trace.begin(Name::Record), event.kind());
        let recorded = self.store.record(reservation.id, of, event.clone()).await;
        span.end(|| spans::recorded(kind, recorded.as_ref()));
        match recorded {
            Ok(recorded) => {
                hit(Point::ConfirmAfterRecord);
                outcome::report(&About::reserved(reservation, context.reserved_at), &event, &recorded);
                context.outcome = Some((event, recorded));
                Some(ConfirmInput::Recorded)
            }
            Err(error @ (RecordError::Unacknowledged(_) | RecordError::Sealing(_))) => {
                log(&error, "an outcome was not recorded, or that is not known", reservation.id);
                context.backoff.pause().await;
                Some(ConfirmInput::RecordUnacknowledged)
            }
            Err(error @ RecordError::NoSuchPurchase) => {
                log(&error, "an acknowledged reserve has vanished", reservation.id);
                None
            }
        }
    }

    /// The answer follows the record, no matter which process wrote it.
    ///
    /// A purchase on a managed account that is still open is a result here: the surface answers 200 with status
    /// `PENDING`, and the worker goes on with the purchase. On a self-managed account the outcome is unknown.
    async fn answer(&self, mut context: ConfirmContext) -> Result<Box<Record>, ConfirmError> {
        let (id, _lease) = (context.reservation.id, context.lease.take());
        let record = match context.success() {
            Some(record) => record,
            None => self.store.get_record(id).await.map_err(|error| {
                log(&error, "a purchase could not be read back", id);
                self.unknown_after(&error)
            })?,
        };
        let record = Box::new(record);
        match record.lifecycle.state.name() {
            StateName::Successful => Ok(record),
            StateName::Failed => Err(ConfirmError::Failed(record)),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                match record.lifecycle.handling {
                    Handling::Managed => Ok(record),
                    Handling::SelfManaged => {
                        let recovery = record.recovery.unwrap_or_else(|| self.nothing_is_known());
                        Err(ConfirmError::Unknown(recovery))
                    }
                }
            }
        }
    }

    /// The recovery for a purchase about which nothing is known: ask soon.
    pub(crate) fn nothing_is_known(&self) -> Recovery {
        Recovery::unknown(self.clock.now(), &self.settings.timing())
    }

    /// The recovery for a purchase whose token cannot be opened: ask now and then, until a person has repaired it.
    pub(crate) fn a_person_must_act(&self) -> Recovery {
        let at = self.clock.now();
        Recovery { at, not_before: at + PERSON_PAUSE, resolved_by: None }
    }

    /// The answer when the store does not tell what there is: the outcome is unknown.
    pub(crate) fn unknown_after(&self, error: &DatabaseError) -> ConfirmError {
        if matches!(error, DatabaseError::TokenUnreadable { .. }) {
            ConfirmError::TokenUnreadable(self.a_person_must_act())
        } else {
            ConfirmError::Unknown(self.nothing_is_known())
        }
    }

    /// Why nothing was reserved, with the recovery of the purchase that blocks this one.
    ///
    /// Many concurrent confirms for one subscriber are refused at once. Only a few of them read the blocking purchase
    /// at a time, so that other callers find a free connection to the database. The others are answered to ask soon.
    async fn rejection_of(&self, refusal: ReserveRefusal, reservation: &Reservation) -> Rejection {
        let found = match (&refusal, self.reads_of_blocking.try_acquire()) {
            (ReserveRefusal::Pending { open: Some(id) }, Ok(_reading)) => {
                self.store.get_record(*id).await.ok()
            }
            _any => None,
        };
        let recovery = found.and_then(|record| record.recovery);
        let open = recovery.unwrap_or_else(|| self.nothing_is_known());
        Rejection::of(refusal, &reservation.request.provider_code, open, self.local_time())
    }

    pub(crate) fn since(&self, instant: Monotonic) -> Duration {
        self.clock.monotonic().elapsed_since(instant)
    }
}

impl ConfirmContext {
    /// The money is held: the trace begins, with everything that was done before.
    fn report_reserve(&self) {
        let request = &self.reservation.request;
        self.trace.is_reserved((self.arrived, self.reserve_began), &self.lane, || {
            [spans::purchase(request), SpanEnd::default()]
        });
        if let Some(checked) = self.checked {
            self.trace.passed(Name::CustomerCheck, checked, || spans::provider(&request.provider_code));
        }
    }

    /// The record of a success that this confirm has just written, so that nothing needs to be read back. Evidence
    /// that came too late is also recorded as moved, but it does not change the purchase.
    fn success(self) -> Option<Record> {
        let (Event::Vended { vend }, recorded) = self.outcome? else { return None };
        let is_paid_for = matches!(
            &recorded.lifecycle.state,
            State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction
        );
        let created_at = self.reserved_at.filter(|_| is_paid_for && recorded.verdict == Verdict::Moved)?;
        let reservation = Arc::unwrap_or_clone(self.reservation);
        Some(reservation.into_settled_record(created_at, recorded, *vend))
    }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str, of: PurchaseId) {
    tracing::error!(cause = error, purchase = of.0, "{what}");
}
