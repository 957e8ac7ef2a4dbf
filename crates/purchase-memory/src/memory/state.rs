//! What the store holds, and each transaction as a function.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ledger::{AccountId, LedgerError, Wallet};
use purchase::{
    Effect, Event, Fence, Handling, Lifecycle, Next, OrganisationId, PurchaseId, Rules, Success, TimedEvent,
    step,
};
use vend::VendOrder;

use super::Loss;
use crate::{Caller, FinalAnswer, Found, Key, Recorded, Reservation, ReserveRefusal, Reserved, Verdict};

#[derive(Debug)]
pub(super) struct State {
    pub(super) rules: Rules,
    pub(super) at: DateTime<Utc>,
    pub(super) loss: Option<Loss>,
    accounts: BTreeMap<AccountId, Account>,
    rows: BTreeMap<PurchaseId, Row>,
    /// Until when each closed reference rests: what arrived before then buys nothing.
    rests_until: BTreeMap<Key, DateTime<Utc>>,
}

#[derive(Debug)]
struct Account {
    organisation: OrganisationId,
    handling: Handling,
    wallet: Wallet,
}

#[derive(Debug)]
struct Row {
    reservation: Reservation,
    reserved: Reserved,
    /// How many purchases were reserved before it.
    place: usize,
    order: VendOrder,
    lifecycle: Lifecycle,
    success: Option<Success>,
    history: Vec<Event>,
    incidents: Vec<String>,
}

impl State {
    pub(super) const fn new(rules: &Rules, at: DateTime<Utc>) -> Self {
        Self {
            rules: *rules,
            at,
            loss: None,
            accounts: BTreeMap::new(),
            rows: BTreeMap::new(),
            rests_until: BTreeMap::new(),
        }
    }

    pub(super) fn open_account(&mut self, organisation: OrganisationId, handling: Handling, wallet: Wallet) {
        self.accounts.insert(wallet.id(), Account { organisation, handling, wallet });
    }

    pub(super) fn reserve(
        &mut self,
        reservation: &Reservation,
        caller: Caller,
    ) -> Result<Reserved, ReserveRefusal> {
        if let Some(row) = self.rows.get(&reservation.id) {
            return Ok(Reserved { is_new: false, ..row.reserved.clone() });
        }
        if caller.has_hung_up {
            return Err(ReserveRefusal::CallerGone);
        }
        if caller.age > self.rules.timing.intake {
            return Err(ReserveRefusal::TooLate);
        }
        let account = self.accounts.get(&reservation.account);
        let account = account.filter(|account| account.organisation == reservation.organisation);
        let (handling, wallet) = account
            .map(|account| (account.handling, account.wallet))
            .ok_or(ReserveRefusal::UnknownAccount)?;
        if self.rows.values().any(|row| row.excludes(reservation)) {
            return Err(ReserveRefusal::Pending);
        }
        let arrived_at = before(self.at, caller.age);
        if self.rests_until.get(&reservation.key()).is_some_and(|until| arrived_at <= *until) {
            return Err(ReserveRefusal::ReferenceRests);
        }
        let wallet = wallet.place_hold(reservation.price.total).map_err(|error| match error {
            LedgerError::Insufficient { gap } => ReserveRefusal::Insufficient { gap },
            LedgerError::NotHeld
            | LedgerError::NotPositive(_)
            | LedgerError::SameAccount
            | LedgerError::NoPostings
            | LedgerError::Contradiction
            | LedgerError::Money(_) => ReserveRefusal::UnknownAccount,
        })?;
        self.open_account(reservation.organisation, handling, wallet);
        Ok(self.insert(reservation, handling))
    }

    fn insert(&mut self, reservation: &Reservation, handling: Handling) -> Reserved {
        let lifecycle = Lifecycle::reserved(handling, self.at, &self.rules.timing);
        let reserved = Reserved { lifecycle: lifecycle.clone(), at: self.at, is_new: true };
        let row = Row {
            reservation: reservation.clone(),
            reserved: reserved.clone(),
            place: self.rows.len(),
            order: VendOrder { reference: reservation.provider_reference, sale: reservation.sale.clone() },
            lifecycle,
            success: None,
            history: Vec::new(),
            incidents: Vec::new(),
        };
        self.rows.insert(reservation.id, row);
        reserved
    }

    /// `None` if there is no such purchase.
    pub(super) fn record(&mut self, id: PurchaseId, event: Event) -> Option<Recorded> {
        let (at, rules) = (self.at, self.rules);
        let row = self.rows.get_mut(&id)?;
        let timed = TimedEvent { at, event };
        let verdict = match step(&row.lifecycle, &timed, &rules) {
            Err(illegal) => Verdict::Illegal(illegal),
            Ok(Next::AlreadyThere) => Verdict::AlreadyThere,
            Ok(Next::Moved(_, effects)) if row.knows(&timed.event, &effects) => Verdict::AlreadyThere,
            Ok(Next::Moved(lifecycle, effects)) => {
                if let Some(account) = self.accounts.get_mut(&row.reservation.account) {
                    for effect in effects {
                        account.wallet = row.perform(effect, &timed.event, account.wallet);
                    }
                }
                if let Event::AttemptStarted { reference, .. } = &timed.event {
                    row.order.reference = *reference;
                }
                row.lifecycle = lifecycle;
                row.history.push(timed.event);
                Verdict::Moved
            }
        };
        Some(Recorded { lifecycle: row.lifecycle.clone(), at, verdict })
    }

    pub(super) fn renew(&mut self, id: PurchaseId, fence: Fence) -> bool {
        let (at, timing) = (self.at, self.rules.timing);
        self.replace(id, |lifecycle| lifecycle.renewed(fence, at, &timing))
    }

    pub(super) fn take_turn(&mut self, id: PurchaseId, fence: Fence) -> bool {
        let (at, timing) = (self.at, self.rules.timing);
        self.replace(id, |lifecycle| lifecycle.asked_about(fence, at, &timing))
    }

    fn replace(&mut self, id: PurchaseId, next: impl Fn(&Lifecycle) -> Option<Lifecycle>) -> bool {
        let Some(row) = self.rows.get_mut(&id) else { return false };
        let Some(lifecycle) = next(&row.lifecycle) else { return false };
        row.lifecycle = lifecycle;
        true
    }

    pub(super) fn found(&self, id: PurchaseId) -> Option<Found> {
        let row = self.rows.get(&id)?;
        let (order, lifecycle, success) = (row.order.clone(), row.lifecycle.clone(), row.success.clone());
        Some(Found { id, order, lifecycle, success, rules: self.rules, at: self.at })
    }

    /// Closes a reference, unless its newest purchase is another one than `known`. Then returns that one.
    pub(super) fn close(
        &mut self,
        key: &Key,
        known: Option<PurchaseId>,
        answer: FinalAnswer,
    ) -> Option<Found> {
        let of_key = self.rows.iter().filter(|(_, row)| row.reservation.key() == *key);
        let newest = of_key.max_by_key(|(_, row)| row.place).map(|(id, _)| *id);
        if newest != known {
            return newest.and_then(|newest| self.found(newest));
        }
        let rest = match answer {
            FinalAnswer::Bought => Duration::ZERO,
            FinalAnswer::NotBought => self.rules.timing.reference_rest,
        };
        let rest = TimeDelta::from_std(rest).unwrap_or(TimeDelta::MAX);
        let until = self.at.checked_add_signed(rest).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let rests_until = self.rests_until.entry(key.clone()).or_insert(until);
        *rests_until = until.max(*rests_until);
        None
    }

    pub(super) fn wallet(&self, account: AccountId) -> Option<Wallet> {
        self.accounts.get(&account).map(|account| account.wallet)
    }

    pub(super) fn history(&self, id: PurchaseId) -> Vec<Event> {
        self.rows.get(&id).map(|row| row.history.clone()).unwrap_or_default()
    }

    pub(super) fn incidents(&self, id: PurchaseId) -> Vec<String> {
        self.rows.get(&id).map(|row| row.incidents.clone()).unwrap_or_default()
    }
}

impl Row {
    /// One purchase of a subscriber is open at a time.
    fn excludes(&self, other: &Reservation) -> bool {
        let ours = &self.reservation;
        self.lifecycle.state.name().is_open()
            && ours.organisation == other.organisation
            && (ours.sale.product, &ours.sale.subscriber) == (other.sale.product, &other.sale.subscriber)
    }

    /// Whether the incident that this event opens was opened before.
    fn knows(&self, event: &Event, effects: &[Effect]) -> bool {
        let opens_incident = effects.iter().any(|effect| matches!(effect, Effect::OpenIncident(_)));
        opens_incident && event.vend().is_some_and(|vend| self.incidents.contains(&vend.provider_transaction))
    }

    fn perform(&mut self, effect: Effect, event: &Event, wallet: Wallet) -> Wallet {
        let total = self.reservation.price.total;
        match effect {
            // `step` ends a hold once, and only if it was placed.
            Effect::CaptureHold => {
                self.success = event.vend().cloned().map(Success::from);
                wallet.capture_hold(total).unwrap_or(wallet)
            }
            Effect::ReleaseHold => wallet.release_hold(total).unwrap_or(wallet),
            Effect::OpenIncident(_) => {
                self.incidents.extend(event.vend().map(|vend| vend.provider_transaction.clone()));
                wallet
            }
        }
    }
}

fn before(at: DateTime<Utc>, length: Duration) -> DateTime<Utc> {
    let length = TimeDelta::from_std(length).unwrap_or(TimeDelta::MAX);
    at.checked_sub_signed(length).unwrap_or(DateTime::<Utc>::MIN_UTC)
}
