//! The database of a simulated town: purchases, wallets, the journal, closed references. Each function is one
//! transaction. A purchase is changed by the shipped `step` alone, money by the rules of `ledger`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ledger::{AccountId, LedgerError, Settlement, SettlementAccounts, Wallet};
use money::{Currency, Money};
use purchase::{
    Channel, Effect, Event, Fact, Fence, Handling, Life, Next, NoticeKind, NotificationFlags, Price,
    Recipient, Rules, State, StateName, Timing, notices,
};
use vend::Vend;

use crate::flaw::{Flaw, mistaken_step};
use crate::values::OPENING;

/// What a confirm wants, under its own number.
#[derive(Clone, Copy, Debug)]
pub struct Order {
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

/// How the request of a reserve stands as its transaction begins.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Since it reached this machine.
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

/// A purchase on file.
#[derive(Clone, Debug)]
pub struct Row {
    pub order: Order,
    pub life: Life,
    pub due_at: Option<DateTime<Utc>>,
    /// Of the current attempt.
    pub name: u32,
    pub bought: Option<Box<Vend>>,
    pub captured: u8,
    pub released: u8,
    pub incidents: Vec<String>,
    /// When each send was put on record, and whether it repeats the one before.
    pub sends: Vec<RecordedSend>,
    /// When integrators took a turn to have an enquiry made.
    pub turns: Vec<DateTime<Utc>>,
    /// The order in which they were reserved.
    pub place: usize,
    pub reserved_at: u64,
    /// What is told to whom, and how often, once it has ended.
    pub notices: Vec<(NoticeKind, Recipient, Channel)>,
}

/// An order that may leave.
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
    /// It has waited too long for its order to leave.
    TooLate,
    /// Its caller has hung up before anything was held.
    CallerGone,
    Insufficient,
    Overloaded,
}

/// What a record came to.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub life: Life,
    pub at: DateTime<Utc>,
    pub moved: bool,
    pub name: u32,
}

#[derive(Clone, Debug)]
pub struct Database {
    pub rules: Vec<Rules>,
    pub rows: BTreeMap<usize, Row>,
    pub purses: BTreeMap<AccountId, Purse>,
    /// What all postings made of every account.
    pub journal: BTreeMap<AccountId, i64>,
    /// No confirm that arrived before this moment buys.
    rests_until: BTreeMap<Key, DateTime<Utc>>,
    pub ahead: TimeDelta,
    pub flaw: Option<Flaw>,
}

const HOUSE: [AccountId; 4] = [AccountId(91), AccountId(92), AccountId(93), AccountId(94)];

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

    /// What its clock shows.
    pub fn at(&self, now: u64) -> DateTime<Utc> {
        let now = i64::try_from(now).expect("no town lives that long");
        OPENING + TimeDelta::milliseconds(now) + self.ahead
    }

    pub fn row(&self, id: usize) -> &Row {
        self.rows.get(&id).expect("a purchase that was reserved stays on file")
    }

    /// The reserve. Run again with the same keys it finds itself and changes nothing.
    pub fn reserve(&mut self, now: u64, order: &Order, caller: Caller) -> Result<Fence, Rejection> {
        let at = self.at(now);
        if self.rows.contains_key(&order.id) {
            return Ok(Fence::FIRST);
        }
        let is_same = |row: &&Row| row.order.key.subscriber == order.key.subscriber;
        if self.rows.values().filter(is_same).any(|row| row.life.state.name().is_open()) {
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
        let life = Life::reserved(handling, at, &timing);
        let row = Row {
            order: *order,
            due_at: None,
            life: life.clone(),
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
        self.keeps(order.id, life, at);
        Ok(Fence::FIRST)
    }

    fn place_hold(&mut self, order: &Order) -> Result<Handling, Rejection> {
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
        if let Some(life) = row.life.renewed(fence, at, &timing) {
            (row.due_at, row.life) = (life.lease_until, life);
        }
    }

    /// An integrator takes the next turn to have an enquiry made.
    pub fn take_turn(&mut self, now: u64, id: usize, fence: Fence) -> bool {
        let at = self.at(now);
        let timing = self.rules_of(self.row(id).order.connection).timing;
        let row = self.row_mut(id);
        let Some(life) = row.life.asked_about(fence, at, &timing) else { return false };
        row.life = life;
        row.turns.push(at);
        true
    }

    /// One fact, one transaction: read, decide, write. `name` is that of a new attempt. Who forgets to compare
    /// decides on what was `read` before.
    pub fn record(&mut self, now: u64, id: usize, fact: &Fact, read: Option<Life>) -> Recorded {
        let at = self.at(now);
        let row = self.row(id);
        let before = read.unwrap_or_else(|| row.life.clone());
        let rules = self.rules_of(row.order.connection);
        let event = Event { at, fact: fact.clone() };
        let next = mistaken_step(self.flaw, &before, &event, &rules);
        let moved = match next {
            Ok(Next::Moved(_, effects)) if self.is_known(id, fact, &effects) => false,
            Ok(Next::Moved(life, effects)) => {
                for effect in effects {
                    self.performs(id, effect, fact);
                }
                self.note(id, fact, &life, at);
                self.keeps(id, life, at);
                true
            }
            Ok(Next::AlreadyThere) | Err(_) => false,
        };
        Recorded { moved, ..self.read(now, id) }
    }

    /// How a purchase stands.
    pub fn read(&self, now: u64, id: usize) -> Recorded {
        let row = self.row(id);
        Recorded { life: row.life.clone(), at: self.at(now), moved: false, name: row.name }
    }

    fn is_known(&self, id: usize, fact: &Fact, effects: &[Effect]) -> bool {
        let opens_incident = effects.iter().any(|effect| matches!(effect, Effect::OpenIncident(_)));
        opens_incident
            && fact.vend().is_some_and(|vend| self.row(id).incidents.contains(&vend.provider_transaction))
    }

    fn performs(&mut self, id: usize, effect: Effect, fact: &Fact) {
        match effect {
            Effect::CaptureHold => self.settles(id),
            Effect::ReleaseHold => {
                let order = self.row(id).order;
                let purse = self.purses.get_mut(&order.wallet).expect("every wallet was opened");
                // A hold that ends twice is found out by the laws, not here.
                purse.wallet = purse.wallet.release_hold(order.price.total).unwrap_or(purse.wallet);
                self.row_mut(id).released += 1;
            }
            Effect::OpenIncident(_) => {
                let transaction = fact.vend().map(|vend| vend.provider_transaction.clone());
                self.row_mut(id).incidents.extend(transaction);
            }
        }
    }

    fn settles(&mut self, id: usize) {
        let order = self.row(id).order;
        let purse = self.purses.get_mut(&order.wallet).expect("every wallet was opened");
        purse.wallet = purse.wallet.capture_hold(order.price.total).unwrap_or(purse.wallet);
        let [commission, provider_payable, fee_income, commission_expense] = HOUSE;
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

    /// What else a move writes into the row.
    fn note(&mut self, id: usize, fact: &Fact, life: &Life, at: DateTime<Utc>) {
        let row = self.row_mut(id);
        match fact {
            Fact::SentAgain { .. } => row.sends.push(RecordedSend { at, is_repeat: true }),
            Fact::AttemptStarted { reference, .. } => {
                row.sends.push(RecordedSend { at, is_repeat: false });
                row.name = reference.call().number();
            }
            Fact::Vended { vend } | Fact::OperatorVended { vend, .. } => {
                if matches!(&life.state, State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction)
                {
                    row.bought.get_or_insert_with(|| vend.clone());
                }
            }
            Fact::Refused { .. }
            | Fact::NeverSent { .. }
            | Fact::Lost { .. }
            | Fact::Claimed
            | Fact::NoRecord { .. }
            | Fact::LetGo { .. }
            | Fact::WindowClosed { .. }
            | Fact::OperatorNotVended { .. } => {}
        }
    }

    fn keeps(&mut self, id: usize, life: Life, at: DateTime<Utc>) {
        let rules = self.rules_of(self.row(id).order.connection);
        let timing = rules.timing;
        let due_at = timing.plan.due_at(&life, at, &rules);
        let row = self.row_mut(id);
        let told = notices(&row.life, &life, at, &timing, &NotificationFlags::default());
        row.notices.extend(told.into_iter().map(|notice| (notice.kind, notice.recipient, notice.channel)));
        row.life = life;
        row.due_at = due_at;
    }

    /// What is due, claimed for one worker: the oldest first, and nothing that another claims in the same moment.
    pub fn claim_due(&mut self, now: u64, connection: usize, slots: usize) -> Vec<(usize, Recorded)> {
        let at = self.at(now);
        let is_due =
            |row: &&Row| row.order.connection == connection && row.due_at.is_some_and(|due| due <= at);
        let mut due: Vec<_> =
            self.rows.values().filter(is_due).map(|row| (row.due_at, row.order.id)).collect();
        due.sort_unstable();
        due.truncate(slots);
        let claims = due.into_iter().map(|(_, id)| (id, self.record(now, id, &Fact::Claimed, None)));
        claims.filter(|(_, claimed)| claimed.moved).collect()
    }

    /// The newest purchase of a key. Where there is none, the key rests from now on.
    pub fn find(&mut self, now: u64, key: Key) -> Option<usize> {
        let newest = self.newest(key);
        if newest.is_none() {
            self.rest(now, key, Timing::default().reference_rest);
        }
        newest
    }

    /// Closes a key whose newest purchase is `known`, for as long as an answer about that needs; else the newer one.
    pub fn close(&mut self, now: u64, key: Key, known: usize) -> Option<usize> {
        let newer = self.newest(key).filter(|newest| *newest != known);
        if newer.is_none() {
            let is_bought = self.row(known).life.state.name() == StateName::Successful;
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
        self.rows.values().filter(|row| row.life.state.name().is_open())
    }

    pub fn in_review(&self) -> Vec<usize> {
        let in_review = self.rows.values().filter(|row| row.life.state.name() == StateName::Review);
        in_review.map(|row| row.order.id).collect()
    }

    /// Whoever is told of an end is told once, and of the end that it was.
    pub fn tells_rightly(row: &Row) -> bool {
        let recipients: BTreeSet<_> =
            row.notices.iter().map(|(_, recipient, channel)| (recipient, channel)).collect();
        let is_right = |(kind, _, _): &(NoticeKind, Recipient, Channel)| match kind {
            NoticeKind::Issued => row.life.state.name() == StateName::Successful,
            NoticeKind::Refunded => {
                row.life.state.name() == StateName::Failed && row.life.handling == Handling::Managed
            }
        };
        let is_issued = row.life.state.name() != StateName::Successful || !row.notices.is_empty();
        recipients.len() == row.notices.len() && row.notices.iter().all(is_right) && is_issued
    }

    fn row_mut(&mut self, id: usize) -> &mut Row {
        self.rows.get_mut(&id).expect("a purchase that was reserved stays on file")
    }
}
