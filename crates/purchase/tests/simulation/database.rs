//! The database of a simulation: purchases, wallets, the journal, closed references. Each function is one
//! transaction. Only the shipped `step` changes a purchase, and only the rules of `ledger` change money.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ledger::{AccountId, LedgerError, Settlement, SettlementAccounts, Wallet};
use money::{Currency, Money};
use purchase::{
    Channel, Effect, Event, Fence, Handling, Lifecycle, Next, NoticeKind, NotificationFlags, Price,
    Recipient, Rules, State, StateName, TimedEvent, Timing, notices,
};
use vend::Vend;

use crate::flaw::{Flaw, flawed_step};
use crate::values::OPENING;

/// The request of a confirm, with its own number.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmRequest {
    pub id: usize,
    pub intent: usize,
    pub key: Key,
    pub wallet: AccountId,
    pub connection: usize,
    pub price: Price,
    pub name: u32,
    /// When the integrator sent the request.
    pub sent_at: u64,
    /// When it reached the machine that serves it, read or not.
    pub arrived_at: u64,
}

/// The state of the request of a reserve when its transaction begins.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Time since it reached this machine.
    pub age: Duration,
    /// Its connection is closed.
    pub has_hung_up: bool,
}

/// Subscriber and the integrator's own reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub subscriber: u64,
    pub reference: u64,
}

/// A stored purchase.
#[derive(Clone, Debug)]
pub struct Row {
    pub order: ConfirmRequest,
    pub lifecycle: Lifecycle,
    pub due_at: Option<DateTime<Utc>>,
    /// The reference of the current attempt.
    pub name: u32,
    pub bought: Option<Box<Vend>>,
    pub captured: u8,
    pub released: u8,
    pub incidents: Vec<String>,
    /// When each send was recorded, and whether it repeats the one before.
    pub sends: Vec<RecordedSend>,
    /// When integrators took a turn for an enquiry.
    pub turns: Vec<DateTime<Utc>>,
    /// The order in which they were reserved.
    pub place: usize,
    pub reserved_at: u64,
    /// The messages about its end, with their recipients, as often as they were sent.
    pub notices: Vec<(NoticeKind, Recipient, Channel)>,
}

/// A recorded send, whose order may leave.
#[derive(Clone, Copy, Debug)]
pub struct RecordedSend {
    pub at: DateTime<Utc>,
    pub is_repeat: bool,
}

#[derive(Clone, Debug)]
pub struct Purse {
    pub wallet: Wallet,
    pub handling: Handling,
}

/// Why a reserve is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    Pending,
    ReferenceClosed,
    /// It has waited too long for its order to be sent.
    TooLate,
    /// Its caller has disconnected before anything was held.
    CallerGone,
    Insufficient,
    Overloaded,
}

/// The result of recording an event.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub lifecycle: Lifecycle,
    pub at: DateTime<Utc>,
    pub moved: bool,
    pub name: u32,
}

#[derive(Clone, Debug)]
pub struct Database {
    pub rules: Vec<Rules>,
    pub rows: BTreeMap<usize, Row>,
    pub purses: BTreeMap<AccountId, Purse>,
    /// The sum of all postings for each account.
    pub journal: BTreeMap<AccountId, i64>,
    /// No confirm that arrived before this time buys.
    rests_until: BTreeMap<Key, DateTime<Utc>>,
    pub ahead: TimeDelta,
    pub flaw: Option<Flaw>,
}

const SYSTEM_ACCOUNTS: [AccountId; 4] = [AccountId(91), AccountId(92), AccountId(93), AccountId(94)];

pub fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").expect("a currency"))
}

impl Database {
    pub fn new(rules: Vec<Rules>, flaw: Option<Flaw>) -> Self {
        Self {
            rules,
            rows: BTreeMap::new(),
            purses: BTreeMap::new(),
            journal: BTreeMap::new(),
            rests_until: BTreeMap::new(),
            ahead: TimeDelta::zero(),
            flaw,
        }
    }

    pub fn opens_purse(&mut self, id: AccountId, minor: i64, handling: Handling) {
        let wallet = Wallet::new(id, pula(minor), pula(0)).expect("nothing is held yet");
        self.purses.insert(id, Purse { wallet, handling });
        self.journal.insert(id, minor);
    }

    /// The time of its clock.
    pub fn at(&self, now: u64) -> DateTime<Utc> {
        let now = i64::try_from(now).expect("no simulation lasts that long");
        OPENING + TimeDelta::milliseconds(now) + self.ahead
    }

    pub fn row(&self, id: usize) -> &Row {
        self.rows.get(&id).expect("a purchase that was reserved stays on file")
    }

    /// The reserve, and whether this run made the purchase. If it runs again with the same keys, it finds the purchase and changes
    /// nothing.
    pub fn reserve(
        &mut self,
        now: u64,
        order: &ConfirmRequest,
        caller: Caller,
    ) -> Result<(Fence, bool), Rejection> {
        let at = self.at(now);
        if self.rows.contains_key(&order.id) {
            return Ok((Fence::FIRST, false));
        }
        let is_same = |row: &&Row| row.order.key.subscriber == order.key.subscriber;
        if self.rows.values().filter(is_same).any(|row| row.lifecycle.state.name().is_open()) {
            return Err(Rejection::Pending);
        }
        let timing = self.rules_of(order.connection).timing;
        if caller.has_hung_up {
            return Err(Rejection::CallerGone);
        }
        if caller.age > timing.intake {
            return Err(Rejection::TooLate);
        }
        let arrived = at - TimeDelta::from_std(caller.age).expect("a request is not that old");
        if self.rests_until.get(&order.key).is_some_and(|until| arrived <= *until) {
            return Err(Rejection::ReferenceClosed);
        }
        let handling = self.place_hold(order)?;
        let lifecycle = Lifecycle::reserved(handling, at, &timing);
        let row = Row {
            order: *order,
            due_at: None,
            lifecycle: lifecycle.clone(),
            name: order.name,
            bought: None,
            captured: 0,
            released: 0,
            incidents: Vec::new(),
            sends: vec![RecordedSend { at, is_repeat: false }],
            turns: Vec::new(),
            place: self.rows.len(),
            reserved_at: now,
            notices: Vec::new(),
        };
        self.rows.insert(order.id, row);
        self.keeps(order.id, lifecycle, at);
        Ok((Fence::FIRST, true))
    }

    fn place_hold(&mut self, order: &ConfirmRequest) -> Result<Handling, Rejection> {
        let purse = self.purses.get_mut(&order.wallet).expect("every wallet was opened");
        match purse.wallet.place_hold(order.price.total) {
            Ok(wallet) => {
                purse.wallet = wallet;
                Ok(purse.handling)
            }
            Err(error) => {
                assert!(matches!(error, LedgerError::Insufficient { .. }), "{error}");
                Err(Rejection::Insufficient)
            }
        }
    }

    pub fn rules_of(&self, connection: usize) -> Rules {
        *self.rules.get(connection).expect("every connection has its rules")
    }

    /// The holder of this fence renews its lease.
    pub fn renew(&mut self, now: u64, id: usize, fence: Fence) {
        let at = self.at(now);
        let timing = self.rules_of(self.row(id).order.connection).timing;
        let row = self.row_mut(id);
        if let Some(lifecycle) = row.lifecycle.renewed(fence, at, &timing) {
            (row.due_at, row.lifecycle) = (lifecycle.lease_until, lifecycle);
        }
    }

    /// An integrator takes the next turn for an enquiry.
    pub fn take_turn(&mut self, now: u64, id: usize, fence: Fence) -> bool {
        let at = self.at(now);
        let timing = self.rules_of(self.row(id).order.connection).timing;
        let row = self.row_mut(id);
        let Some(lifecycle) = row.lifecycle.asked_about(fence, at, &timing) else { return false };
        row.lifecycle = lifecycle;
        row.turns.push(at);
        true
    }

    /// One event, one transaction: read, decide, write. `name` is the reference of a new attempt. The flaw that
    /// forgets to compare decides on what was `read` before.
    pub fn record(&mut self, now: u64, id: usize, event: &Event, read: Option<Lifecycle>) -> Recorded {
        let at = self.at(now);
        let row = self.row(id);
        let before = read.unwrap_or_else(|| row.lifecycle.clone());
        let rules = self.rules_of(row.order.connection);
        let timed = TimedEvent { at, event: event.clone() };
        let next = flawed_step(self.flaw, &before, &timed, &rules);
        let moved = match next {
            Ok(Next::Moved(_, effects)) if self.is_known(id, event, &effects) => false,
            Ok(Next::Moved(lifecycle, effects)) => {
                for effect in effects {
                    self.performs(id, effect, event);
                }
                self.note(id, event, &lifecycle, at);
                self.keeps(id, lifecycle, at);
                true
            }
            Ok(Next::AlreadyThere) | Err(_) => false,
        };
        Recorded { moved, ..self.read(now, id) }
    }

    /// The current state of a purchase.
    pub fn read(&self, now: u64, id: usize) -> Recorded {
        let row = self.row(id);
        Recorded { lifecycle: row.lifecycle.clone(), at: self.at(now), moved: false, name: row.name }
    }

    fn is_known(&self, id: usize, event: &Event, effects: &[Effect]) -> bool {
        let opens_incident = effects.iter().any(|effect| matches!(effect, Effect::OpenIncident(_)));
        opens_incident
            && event.vend().is_some_and(|vend| self.row(id).incidents.contains(&vend.provider_transaction))
    }

    fn performs(&mut self, id: usize, effect: Effect, event: &Event) {
        match effect {
            Effect::CaptureHold => self.settles(id),
            Effect::ReleaseHold => {
                let order = self.row(id).order;
                let purse = self.purses.get_mut(&order.wallet).expect("every wallet was opened");
                // The invariants find a hold that ends twice, not this code.
                purse.wallet = purse.wallet.release_hold(order.price.total).unwrap_or(purse.wallet);
                self.row_mut(id).released += 1;
            }
            Effect::OpenIncident(_) => {
                let transaction = event.vend().map(|vend| vend.provider_transaction.clone());
                self.row_mut(id).incidents.extend(transaction);
            }
        }
    }

    fn settles(&mut self, id: usize) {
        let order = self.row(id).order;
        let purse = self.purses.get_mut(&order.wallet).expect("every wallet was opened");
        purse.wallet = purse.wallet.capture_hold(order.price.total).unwrap_or(purse.wallet);
        let [commission, provider_payable, fee_income, commission_expense] = SYSTEM_ACCOUNTS;
        let accounts = SettlementAccounts {
            wallet: order.wallet,
            commission,
            provider_payable,
            fee_income,
            commission_expense,
        };
        let Price { net, charge, commission, .. } = order.price;
        let entry = Settlement { net, charge, commission }.entry(&accounts).expect("a price can be settled");
        for posting in entry.postings() {
            *self.journal.entry(posting.debit()).or_default() -= posting.amount().minor();
            *self.journal.entry(posting.credit()).or_default() += posting.amount().minor();
        }
        self.row_mut(id).captured += 1;
    }

    /// Writes the other effects of an event into the row.
    fn note(&mut self, id: usize, event: &Event, lifecycle: &Lifecycle, at: DateTime<Utc>) {
        let row = self.row_mut(id);
        match event {
            Event::SentAgain { .. } => row.sends.push(RecordedSend { at, is_repeat: true }),
            Event::AttemptStarted { reference, .. } => {
                row.sends.push(RecordedSend { at, is_repeat: false });
                row.name = reference.call().number();
            }
            Event::Vended { vend } | Event::OperatorVended { vend, .. } => {
                if matches!(&lifecycle.state, State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction)
                {
                    row.bought.get_or_insert_with(|| vend.clone());
                }
            }
            Event::Refused { .. }
            | Event::NeverSent { .. }
            | Event::Lost { .. }
            | Event::Claimed
            | Event::NoRecord { .. }
            | Event::LeaseReleased { .. }
            | Event::WindowClosed { .. }
            | Event::OperatorNotVended { .. } => {}
        }
    }

    fn keeps(&mut self, id: usize, lifecycle: Lifecycle, at: DateTime<Utc>) {
        let rules = self.rules_of(self.row(id).order.connection);
        let timing = rules.timing;
        let due_at = timing.plan.due_at(&lifecycle, at, &rules);
        let row = self.row_mut(id);
        let told = notices(&row.lifecycle, &lifecycle, at, &timing, &NotificationFlags::default());
        row.notices.extend(told.into_iter().map(|notice| (notice.kind, notice.recipient, notice.channel)));
        row.lifecycle = lifecycle;
        row.due_at = due_at;
    }

    /// Claims what is due for one worker: the oldest first, and nothing that another worker claims at the same time.
    pub fn claim_due(&mut self, now: u64, connection: usize, slots: usize) -> Vec<(usize, Recorded)> {
        let at = self.at(now);
        let is_due =
            |row: &&Row| row.order.connection == connection && row.due_at.is_some_and(|due| due <= at);
        let mut due: Vec<_> =
            self.rows.values().filter(is_due).map(|row| (row.due_at, row.order.id)).collect();
        due.sort_unstable();
        due.truncate(slots);
        let claims = due.into_iter().map(|(_, id)| (id, self.record(now, id, &Event::Claimed, None)));
        claims.filter(|(_, claimed)| claimed.moved).collect()
    }

    /// The newest purchase of a key. If there is none, the key rests from now on.
    pub fn find(&mut self, now: u64, key: Key) -> Option<usize> {
        let newest = self.newest(key);
        if newest.is_none() {
            self.rest(now, key, Timing::default().reference_rest);
        }
        newest
    }

    /// Closes a key whose newest purchase is `known`, for as long as an answer about that needs. Otherwise returns
    /// the newer one.
    pub fn close(&mut self, now: u64, key: Key, known: usize) -> Option<usize> {
        let newer = self.newest(key).filter(|newest| *newest != known);
        if newer.is_none() {
            let is_bought = self.row(known).lifecycle.state.name() == StateName::Successful;
            self.rest(now, key, if is_bought { Duration::ZERO } else { Timing::default().reference_rest });
        }
        newer
    }

    fn rest(&mut self, now: u64, key: Key, length: Duration) {
        let length = if self.flaw == Some(Flaw::ForgetsTheRest) { Duration::ZERO } else { length };
        let until = self.at(now) + length;
        let rests_until = self.rests_until.entry(key).or_insert(until);
        *rests_until = until.max(*rests_until);
    }

    fn newest(&self, key: Key) -> Option<usize> {
        let of_key = self.rows.values().filter(|row| row.order.key == key);
        of_key.max_by_key(|row| row.place).map(|row| row.order.id)
    }

    pub fn open(&self) -> impl Iterator<Item = &Row> {
        self.rows.values().filter(|row| row.lifecycle.state.name().is_open())
    }

    pub fn in_review(&self) -> Vec<usize> {
        let in_review = self.rows.values().filter(|row| row.lifecycle.state.name() == StateName::Review);
        in_review.map(|row| row.order.id).collect()
    }

    /// Each recipient gets one message about the end, and it is the right one.
    pub fn messages_are_right(row: &Row) -> bool {
        let recipients: BTreeSet<_> =
            row.notices.iter().map(|(_, recipient, channel)| (recipient, channel)).collect();
        let is_right = |(kind, _, _): &(NoticeKind, Recipient, Channel)| match kind {
            NoticeKind::Issued => row.lifecycle.state.name() == StateName::Successful,
            NoticeKind::Refunded => {
                row.lifecycle.state.name() == StateName::Failed && row.lifecycle.handling == Handling::Managed
            }
        };
        let is_issued = row.lifecycle.state.name() != StateName::Successful || !row.notices.is_empty();
        recipients.len() == row.notices.len() && row.notices.iter().all(is_right) && is_issued
    }

    fn row_mut(&mut self, id: usize) -> &mut Row {
        self.rows.get_mut(&id).expect("a purchase that was reserved stays on file")
    }
}
