//! The laws of a simulated town. What touches a purchase is judged at once, what an integrator is told is held
//! against the provider's own log, and in the end everything has to come right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use purchase::{Asker, Handling, Life, Recovery, State, StateName, Timing};
use vend::Vend;

use crate::crowd::{Answer, Manner};
use crate::database::{Database, Key, Row};
use crate::desk::Desk;
use crate::town::{Happening, Town, length, until_a_vend_is_found};

/// A broken law.
#[derive(Clone, Debug)]
pub struct Breach {
    pub law: &'static str,
    pub purchase: Option<usize>,
    pub at: u64,
    pub detail: String,
}

/// What was seen and said so far, and must stay true.
#[derive(Debug, Default)]
pub struct Witness {
    pub breach: Option<Breach>,
    ended: BTreeMap<usize, Life>,
    /// Whoever was told that nothing was bought under this number.
    rejected: BTreeSet<usize>,
    told: BTreeMap<usize, Answer>,
    /// Purchases whose confirm was answered while they were open.
    waiting: BTreeSet<usize>,
    /// When the latest retry found nothing of a key.
    pub absent: BTreeMap<Key, u64>,
}

impl Town {
    pub fn finds(&mut self, is_broken: bool, law: &'static str, purchase: Option<usize>) {
        if is_broken && self.record.breach.is_none() {
            let row = purchase.and_then(|id| self.database.rows.get(&id));
            let detail = row.map_or_else(String::new, |row| format!("{row:?}"));
            self.record.breach = Some(Breach { law, purchase, at: self.now, detail });
        }
    }

    /// One purchase, the wallet behind it, and what the provider really did.
    pub fn judges(&mut self, id: usize) {
        let Some(row) = self.database.rows.get(&id).cloned() else { return };
        for (law, holds) in self.laws_of(&row) {
            self.finds(!holds, law, Some(id));
        }
        if !row.life.state.name().is_open() {
            self.record.ended.entry(id).or_insert(row.life);
        }
    }

    fn laws_of(&self, row: &Row) -> [(&'static str, bool); 17] {
        let id = row.order.id;
        let provider = self.providers.get(row.order.connection).expect("a connection of its town");
        let vends = provider.vends_for(id).count();
        let is_unvended = vends == 0 && !provider.may_still_vend_for(id);
        let state = row.life.state.name();
        let is_open = state.is_open();
        let resolutions = (row.captured, row.released);
        let copies = provider.copies_for(id);
        let requests = usize::from(Timing::MANAGED_REQUESTS_MAX);
        let is_managed = row.life.handling == Handling::Managed;
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
            ("the end is the end", self.record.ended.get(&id).is_none_or(|end| *end == row.life)),
            ("no incident", row.incidents.is_empty()),
            ("a copy leaves on record only", copies <= row.sends.len()),
            ("five requests after the first", !is_managed || copies <= requests + 1),
            ("due exactly while open", row.due_at.is_some() == is_open),
            ("held is the sum of what is open", held),
            ("posted is the sum of the journal", posted),
            ("an end is told of once, and rightly", Database::tells_rightly(row)),
            ("whoever waits hears of a refund", self.waiting_hears(row)),
        ]
    }

    fn is_as_vended(&self, row: &Row) -> bool {
        let State::Successful { .. } = &row.life.state else { return row.bought.is_none() };
        let provider = self.providers.get(row.order.connection).expect("a connection of its town");
        let is_it = |vend: &Vend| {
            provider.vends_for(row.order.id).any(|logged| {
                *logged.vend() == *vend
                    && logged.order.subscriber == row.order.key.subscriber
                    && logged.order.amount == row.order.price.net.minor()
            })
        };
        row.bought.as_deref().is_some_and(is_it)
    }

    /// Of a managed purchase, whoever was told "pending" is told in the end.
    fn waiting_hears(&self, row: &Row) -> bool {
        let waits = self.record.waiting.contains(&row.order.id) && row.life.handling == Handling::Managed;
        !(waits && row.life.state.name() == StateName::Failed && row.notices.is_empty())
    }

    fn wallet_of(&self, row: &Row) -> (bool, bool) {
        let wallet = row.order.wallet;
        let Some(purse) = self.database.purses.get(&wallet) else { return (false, false) };
        let of_wallet = self.database.open().filter(|row| row.order.wallet == wallet);
        let open: i64 = of_wallet.map(|row| row.order.price.total.minor()).sum();
        let journal = self.database.journal.get(&wallet).copied().unwrap_or_default();
        (purse.wallet.held().minor() == open, purse.wallet.posted().minor() == journal)
    }

    /// Nothing leaves when the window has closed, but for what stood at the gate.
    pub fn judges_a_send(&mut self, id: usize, asker: Option<Asker>, timing: &Timing) {
        let row = self.database.row(id);
        let gate = chrono::TimeDelta::milliseconds(i64::try_from(length(timing.gate)).expect("short"));
        let is_late =
            self.options.clock_jumps == 0 && self.database.at(self.now) > row.life.window_closes_at + gate;
        self.finds(is_late, "nothing is sent after the window", Some(id));
        let worker_sends = asker == Some(Asker::Worker);
        let row = self.database.row(id);
        let is_for_others = worker_sends && row.life.handling == Handling::SelfManaged;
        let is_unplanned = !self.is_planned(row, timing);
        self.finds(is_for_others, "the worker sends nothing for the self-managed", Some(id));
        self.finds(is_unplanned, "sends follow the plan, whoever asks", Some(id));
        self.judges(id);
    }

    /// Each repeat has a moment of the plan to itself, and each new attempt its own.
    fn is_planned(&self, row: &Row, timing: &Timing) -> bool {
        let declared = self.database.rules_of(row.order.connection).declared;
        let after_first = |wait: &Duration| row.life.window_closes_at - timing.window + *wait;
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

    /// However many ask, one enquiry in each gap is made for integrators.
    pub fn judges_turns(&mut self, id: usize) {
        let row = self.database.row(id);
        let gap = self.database.rules_of(row.order.connection).timing.enquiry_gap;
        let too_soon = row.turns.is_sorted_by(|one, next| *one + gap <= *next);
        self.finds(!too_soon, "one enquiry at a time, however many ask", Some(id));
    }

    /// What an integrator was told to be known by now, after all faults had ended.
    pub fn judges_what_is_known(&mut self, id: usize) {
        let is_open = self.database.row(id).life.state.name().is_open();
        self.finds(is_open, "what is to be known by then is known", Some(id));
    }

    /// An answer that is not final says by when the outcome is known.
    fn promises(&mut self, id: usize) {
        let row = self.database.row(id);
        let rules = self.database.rules_of(row.order.connection);
        let at = self.database.at(self.now);
        let Some(recovery) = Recovery::of(&row.life, at, &rules) else { return };
        let is_later = recovery.not_before > at;
        self.finds(!is_later, "whoever is to ask again is to ask later", Some(id));
        let faults_ended = self.now >= self.options.faults_end && self.options.clock_jumps == 0;
        if let Some(by) = recovery.resolved_by.filter(|_| faults_ended) {
            let wait = u64::try_from((by - at).num_milliseconds()).expect("it lies ahead");
            self.after(wait, Happening::IsKnown(id));
        }
    }

    /// What is told is true, is what was told before, and was not told otherwise to another.
    pub fn is_told(&mut self, desk: &Desk, answer: Answer) {
        match answer {
            Answer::Successful(id) | Answer::Failed(id) => {
                let is_success = self.database.row(id).life.state.name() == StateName::Successful;
                let is_failure = self.database.row(id).life.state.name() == StateName::Failed;
                let is_true = if answer == Answer::Successful(id) { is_success } else { is_failure };
                self.finds(!is_true, "a final answer is true", Some(id));
                let before = *self.record.told.entry(id).or_insert(answer);
                self.finds(before != answer, "two final answers are one", Some(id));
            }
            Answer::Rejected(_) => {
                self.record.rejected.insert(desk.order.id);
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

    /// Whoever was told that nothing was bought has bought nothing.
    fn judges_the_rejected(&mut self) {
        let bought = self.record.rejected.iter().find(|id| self.database.rows.contains_key(id)).copied();
        self.finds(bought.is_some(), "whoever is refused has bought nothing", bought);
    }

    /// Whoever was told that there is no purchase gets none from what began before. That rests on the database's clock.
    fn judges_the_absent(&mut self) {
        let appeared = self.database.rows.values().find(|row| {
            let absent = self.record.absent.get(&row.order.key);
            absent.is_some_and(|absent| row.order.sent_at < *absent && row.reserved_at > *absent)
        });
        let appeared = appeared.map(|row| row.order.id).filter(|_| self.options.clock_jumps == 0);
        self.finds(appeared.is_some(), "what was not found does not appear", appeared);
    }

    /// Every vend that the provider tells of is found out and paid for, a while after the faults have ended and its order has
    /// left: the plan of a managed purchase may have the last order leave just now.
    pub fn vends_are_found(&mut self) {
        let long_ago = self.now.saturating_sub(until_a_vend_is_found(&Timing::default()));
        let unpaid = self.database.open().find(|row| {
            let provider = self.providers.get(row.order.connection).expect("a connection of its town");
            provider.vends_for(row.order.id).any(|vend| vend.left_at <= long_ago)
        });
        let unpaid = unpaid.map(|row| row.order.id);
        self.finds(unpaid.is_some(), "a vend is found out in time", unpaid);
    }

    /// What is still open stands before a person.
    pub fn all_is_decided(&mut self) {
        let lingering = self.database.open().find(|row| row.life.state.name() != StateName::Review);
        let lingering = lingering.map(|row| row.order.id);
        self.finds(lingering.is_some(), "all ends in time, or stands before a person", lingering);
    }

    /// The last look: everything has ended, and everything that was ever said still holds.
    pub fn closes(&mut self) {
        let open = self.database.open().next().map(|row| row.order.id);
        self.finds(open.is_some(), "in the end nothing is open", open);
        let ids: Vec<_> = self.database.rows.keys().copied().collect();
        for id in ids {
            self.judges(id);
            let row = self.database.row(id).clone();
            let provider = self.providers.get(row.order.connection).expect("a connection of its town");
            let vends = provider.vends_for(id).count();
            self.finds(vends != usize::from(row.captured), "whatever is vended is paid for", Some(id));
            let told = self.record.told.get(&id).copied();
            let holds = match told {
                Some(Answer::Successful(_)) => vends == 1,
                Some(Answer::Failed(_)) => vends == 0,
                Some(_) | None => true,
            };
            self.finds(!holds, "what was told still stands", Some(id));
        }
        self.judges_the_rejected();
        self.judges_the_absent();
        self.judges_the_guided();
    }

    /// Who follows the guide gets what it wants at most once.
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
                self.finds(true, "who follows the guide buys once", bought.last().copied());
                return;
            }
        }
    }
}
