//! The invariants of a simulation. Every change of a purchase is checked at once. Every answer to an integrator is
//! checked against the provider's own log. At the end every purchase must be right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use purchase::{Asker, Handling, Lifecycle, Recovery, State, StateName, Timing};
use vend::Vend;

use crate::crowd::{Answer, Manner};
use crate::database::{Database, Key, Row};
use crate::driver::Driver;
use crate::run::{Happening, Simulation, length, until_a_vend_is_found};

/// A violated invariant.
#[derive(Clone, Debug)]
pub struct Violation {
    pub invariant: &'static str,
    pub purchase: Option<usize>,
    pub at: u64,
    pub detail: String,
}

/// What was seen and answered so far, and must stay true.
#[derive(Debug, Default)]
pub struct Witness {
    pub violation: Option<Violation>,
    ended: BTreeMap<usize, Lifecycle>,
    /// The confirms, by number, that were answered that nothing was bought.
    rejected: BTreeSet<usize>,
    told: BTreeMap<usize, Answer>,
    /// Purchases whose confirm was answered while they were open.
    waiting: BTreeSet<usize>,
    /// When the latest retry found nothing for a key.
    pub absent: BTreeMap<Key, u64>,
}

impl Simulation {
    pub fn finds(&mut self, is_broken: bool, invariant: &'static str, purchase: Option<usize>) {
        if is_broken && self.record.violation.is_none() {
            let row = purchase.and_then(|id| self.database.rows.get(&id));
            let detail = row.map_or_else(String::new, |row| format!("{row:?}"));
            self.record.violation = Some(Violation { invariant, purchase, at: self.now, detail });
        }
    }

    /// Checks one purchase, its wallet, and what the provider really did.
    pub fn judges(&mut self, id: usize) {
        let Some(row) = self.database.rows.get(&id).cloned() else { return };
        for (invariant, holds) in self.invariants_of(&row) {
            self.finds(!holds, invariant, Some(id));
        }
        if !row.lifecycle.state.name().is_open() {
            self.record.ended.entry(id).or_insert(row.lifecycle);
        }
    }

    fn invariants_of(&self, row: &Row) -> [(&'static str, bool); 17] {
        let id = row.order.id;
        let provider = self.providers.get(row.order.connection).expect("a connection of this simulation");
        let vends = provider.vends_for(id).count();
        let is_unvended = vends == 0 && !provider.may_still_vend_for(id);
        let state = row.lifecycle.state.name();
        let is_open = state.is_open();
        let resolutions = (row.captured, row.released);
        let copies = provider.copies_for(id);
        let requests = usize::from(Timing::MANAGED_REQUESTS_MAX);
        let is_managed = row.lifecycle.handling == Handling::Managed;
        let (held, posted) = self.wallet_of(row);
        [
            ("vended at most once", vends <= 1),
            ("the hold ends at most once", row.captured + row.released <= 1),
            ("what is released is never vended", row.released == 0 || is_unvended),
            ("another attempt is due only if none was vended", state != StateName::RetryDue || is_unvended),
            ("paid for only if vended", usize::from(row.captured) <= vends),
            ("success is a capture", (state == StateName::Successful) == (resolutions == (1, 0))),
            ("failure is a release", (state == StateName::Failed) == (resolutions == (0, 1))),
            ("what was bought is what was vended", self.is_as_vended(row)),
            ("an end is final", self.record.ended.get(&id).is_none_or(|end| *end == row.lifecycle)),
            ("no incident", row.incidents.is_empty()),
            ("every sent copy is recorded", copies <= row.sends.len()),
            ("five requests after the first", !is_managed || copies <= requests + 1),
            ("due exactly while open", row.due_at.is_some() == is_open),
            ("held is the sum of what is open", held),
            ("posted is the sum of the journal", posted),
            ("an end causes each message once, and the right one", Database::messages_are_right(row)),
            (
                "a caller that was answered pending gets a refund message",
                self.waiting_caller_is_informed(row),
            ),
        ]
    }

    fn is_as_vended(&self, row: &Row) -> bool {
        let State::Successful { .. } = &row.lifecycle.state else { return row.bought.is_none() };
        let provider = self.providers.get(row.order.connection).expect("a connection of this simulation");
        let is_it = |vend: &Vend| {
            provider.vends_for(row.order.id).any(|logged| {
                *logged.vend() == *vend
                    && logged.order.subscriber == row.order.key.subscriber
                    && logged.order.amount == row.order.price.net.minor()
            })
        };
        row.bought.as_deref().is_some_and(is_it)
    }

    /// If a confirm was answered while its managed purchase was open, a failure of the purchase causes a message.
    fn waiting_caller_is_informed(&self, row: &Row) -> bool {
        let waits =
            self.record.waiting.contains(&row.order.id) && row.lifecycle.handling == Handling::Managed;
        !(waits && row.lifecycle.state.name() == StateName::Failed && row.notices.is_empty())
    }

    fn wallet_of(&self, row: &Row) -> (bool, bool) {
        let wallet = row.order.wallet;
        let Some(purse) = self.database.purses.get(&wallet) else { return (false, false) };
        let of_wallet = self.database.open().filter(|row| row.order.wallet == wallet);
        let open: i64 = of_wallet.map(|row| row.order.price.total.minor()).sum();
        let journal = self.database.journal.get(&wallet).copied().unwrap_or_default();
        (purse.wallet.held().minor() == open, purse.wallet.posted().minor() == journal)
    }

    /// Nothing is sent after the window has closed, except an order that was already at the gate.
    pub fn judges_a_send(&mut self, id: usize, asker: Option<Asker>, timing: &Timing) {
        let row = self.database.row(id);
        let gate = chrono::TimeDelta::milliseconds(i64::try_from(length(timing.gate)).expect("short"));
        let is_late = self.options.clock_jumps == 0
            && self.database.at(self.now) > row.lifecycle.window_closes_at + gate;
        self.finds(is_late, "nothing is sent after the window", Some(id));
        let worker_sends = asker == Some(Asker::Worker);
        let row = self.database.row(id);
        let is_for_others = worker_sends && row.lifecycle.handling == Handling::SelfManaged;
        let is_unplanned = !self.is_planned(row, timing);
        self.finds(is_for_others, "the worker sends nothing for the self-managed", Some(id));
        self.finds(is_unplanned, "sends follow the plan, however often a client asks", Some(id));
        self.judges(id);
    }

    /// Each repeat has its own time of the plan, and so has each new attempt.
    fn is_planned(&self, row: &Row, timing: &Timing) -> bool {
        let declared = self.database.rules_of(row.order.connection).declared;
        let after_first = |wait: &Duration| row.lifecycle.window_closes_at - timing.window + *wait;
        let [.., before, latest] = row.sends.as_slice() else { return true };
        if !latest.is_repeat {
            let due = timing.plan.attempts.get(row.sends.len() - 2).map(after_first);
            return due.is_some_and(|due| due <= latest.at);
        }
        let mut moments = timing.plan.repeats.iter().map(after_first);
        let is_early = latest.at < after_first(&timing.plan.repeats_end);
        moments.any(|moment| before.at < moment && moment <= latest.at)
            && (is_early || !declared.not_found_counts)
    }

    /// However many integrators ask, one enquiry in each gap is made for them.
    pub fn judges_turns(&mut self, id: usize) {
        let row = self.database.row(id);
        let gap = self.database.rules_of(row.order.connection).timing.enquiry_gap;
        let too_soon = row.turns.is_sorted_by(|one, next| *one + gap <= *next);
        self.finds(!too_soon, "one enquiry in each gap, however many clients ask", Some(id));
    }

    /// Checks that an outcome is known by the time that was promised to an integrator, after all faults had ended.
    pub fn judges_what_is_known(&mut self, id: usize) {
        let is_open = self.database.row(id).lifecycle.state.name().is_open();
        self.finds(is_open, "an outcome is known by the promised time", Some(id));
    }

    /// An answer that is not final says by when the outcome is known.
    fn promises(&mut self, id: usize) {
        let row = self.database.row(id);
        let rules = self.database.rules_of(row.order.connection);
        let at = self.database.at(self.now);
        let Some(recovery) = Recovery::of(&row.lifecycle, at, &rules) else { return };
        let is_later = recovery.not_before > at;
        self.finds(!is_later, "the time to ask again is later", Some(id));
        let faults_ended = self.now >= self.options.faults_end && self.options.clock_jumps == 0;
        if let Some(by) = recovery.resolved_by.filter(|_| faults_ended) {
            let wait = u64::try_from((by - at).num_milliseconds()).expect("it is in the future");
            self.after(wait, Happening::IsKnown(id));
        }
    }

    /// An answer is true, and it agrees with all earlier answers to any caller.
    pub fn is_told(&mut self, driver: &Driver, answer: Answer) {
        match answer {
            Answer::Successful(id) | Answer::Failed(id) => {
                let is_success = self.database.row(id).lifecycle.state.name() == StateName::Successful;
                let is_failure = self.database.row(id).lifecycle.state.name() == StateName::Failed;
                let is_true = if answer == Answer::Successful(id) { is_success } else { is_failure };
                self.finds(!is_true, "a final answer is true", Some(id));
                let before = *self.record.told.entry(id).or_insert(answer);
                self.finds(before != answer, "no two final answers differ", Some(id));
            }
            Answer::Rejected(_) => {
                self.record.rejected.insert(driver.order.id);
                self.judges_the_rejected();
            }
            Answer::NotFound => self.judges_the_absent(),
            Answer::Open(id) => {
                self.record.waiting.insert(id);
                self.promises(id);
            }
            Answer::Pending(id) => self.promises(id),
            Answer::Unreachable => {}
        }
    }

    /// A caller that was answered that nothing was bought has bought nothing.
    fn judges_the_rejected(&mut self) {
        let bought = self.record.rejected.iter().find(|id| self.database.rows.contains_key(id)).copied();
        self.finds(bought.is_some(), "a refused caller has bought nothing", bought);
    }

    /// After an answer that there is no purchase, no earlier request makes one. This depends on the database's clock.
    fn judges_the_absent(&mut self) {
        let appeared = self.database.rows.values().find(|row| {
            let absent = self.record.absent.get(&row.order.key);
            absent.is_some_and(|absent| row.order.sent_at < *absent && row.reserved_at > *absent)
        });
        let appeared = appeared.map(|row| row.order.id).filter(|_| self.options.clock_jumps == 0);
        self.finds(appeared.is_some(), "what was not found does not appear", appeared);
    }

    /// Every vend that the provider reports is found and paid for, some time after the faults have ended and its
    /// order was sent. The plan of a managed purchase may send the last order just before that.
    pub fn vends_are_found(&mut self) {
        let long_ago = self.now.saturating_sub(until_a_vend_is_found(&Timing::default()));
        let unpaid = self.database.open().find(|row| {
            let provider = self.providers.get(row.order.connection).expect("a connection of this simulation");
            provider.vends_for(row.order.id).any(|vend| vend.left_at <= long_ago)
        });
        let unpaid = unpaid.map(|row| row.order.id);
        self.finds(unpaid.is_some(), "a vend is found in time", unpaid);
    }

    /// Every purchase that is still open is in review.
    pub fn all_is_decided(&mut self) {
        let lingering = self.database.open().find(|row| row.lifecycle.state.name() != StateName::Review);
        let lingering = lingering.map(|row| row.order.id);
        self.finds(lingering.is_some(), "every purchase ends in time or is in review", lingering);
    }

    /// The last check: every purchase has ended, and every answer is still true.
    pub fn closes(&mut self) {
        let open = self.database.open().next().map(|row| row.order.id);
        self.finds(open.is_some(), "in the end nothing is open", open);
        let ids: Vec<_> = self.database.rows.keys().copied().collect();
        for id in ids {
            self.judges(id);
            let row = self.database.row(id).clone();
            let provider = self.providers.get(row.order.connection).expect("a connection of this simulation");
            let vends = provider.vends_for(id).count();
            self.finds(vends != usize::from(row.captured), "every vend is paid for", Some(id));
            let told = self.record.told.get(&id).copied();
            let holds = match told {
                Some(Answer::Successful(_)) => vends == 1,
                Some(Answer::Failed(_)) => vends == 0,
                Some(_) | None => true,
            };
            self.finds(!holds, "a final answer stays true", Some(id));
        }
        self.judges_the_rejected();
        self.judges_the_absent();
        self.judges_the_guided();
    }

    /// An integrator that follows the guide buys at most once.
    fn judges_the_guided(&mut self) {
        if self.options.clock_jumps > 0 {
            return;
        }
        for (number, intent) in self.intents.iter().enumerate() {
            if !matches!(intent.manner, Manner::FollowsTheGuide | Manner::IsImpatient) {
                continue;
            }
            let bought: Vec<_> = self
                .database
                .rows
                .values()
                .filter(|row| row.order.intent == number && row.captured > 0)
                .map(|row| row.order.id)
                .collect();
            if bought.len() > 1 {
                self.finds(true, "a guided integrator buys once", bought.last().copied());
                return;
            }
        }
    }
}
