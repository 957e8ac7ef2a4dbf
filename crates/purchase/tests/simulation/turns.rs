//! What happens with a driver's command: a transaction, a send, an enquiry, an answer. Also the worker, which claims
//! what is due.

use std::time::Duration;

use purchase::{
    Asker, Confirm, ConfirmCommand, Event, Lifecycle, Resolve, ResolveAnswer, ResolveCommand, StateName,
    Timing,
};
use vend::{CallId, Doubt, Enquiry, ProviderReference, Refusal, RefusalReason, VendOutcome};

use crate::crowd::Answer;
use crate::database::{Caller, Recorded, Rejection};
use crate::driver::{Driver, Found, Incarnation, News, Request, Work};
use crate::flaw::Flaw;
use crate::options::SECOND;
use crate::provider::{Reply, WireOrder};
use crate::run::{Fate, Happening, Simulation, Transaction, length};
use crate::values::OPENING;

/// When the caller of a confirm or of a retry is answered that the outcome is unknown. The engine goes on.
const LONGEST_WAIT: u64 = 150 * SECOND;
/// When a driver that waits for a commit gives it up as lost.
const COMMIT_DEADLINE: u64 = 10 * SECOND;
const ENQUIRY_DEADLINE: u64 = 10 * SECOND;
/// How often a holder renews its lease.
const RENEWAL: u64 = 2 * SECOND;

impl Simulation {
    pub fn adds_driver(&mut self, driver: Driver) -> u64 {
        self.next_driver += 1;
        self.drivers.insert(self.next_driver, driver);
        self.next_driver
    }

    /// The steps before the reserve are over: the purchase has its number, and its protocol begins.
    pub fn begins(&mut self, number: u64) {
        self.next_purchase += 1;
        let (id, now) = (self.next_purchase, self.now);
        let Some(driver) = self.drivers.get_mut(&number) else { return };
        driver.order.id = id;
        driver.began_at = now;
        let (machine, command) = Confirm::begin(Timing::default());
        driver.work = Work::Confirm(machine, command);
        let (request, arrived_at) = (driver.request, driver.order.arrived_at);
        self.tells(Some(id), || format!("driver {number} confirms"));
        if let Some(request) = request {
            self.at(
                (arrived_at + LONGEST_WAIT).max(now),
                Happening::WaitsTooLong { driver: number, request },
            );
        }
        self.goes_on(number);
    }

    /// The caller of a confirm is answered that the outcome is unknown. The engine goes on.
    pub fn waits_too_long(&mut self, driver: u64, request: Request) {
        if let Some(driver) = self.drivers.get(&driver) {
            let answer = Answer::Unreachable;
            let wait = self.chance.within(1..=200);
            let id = driver.order.id;
            self.tells(Some(id), || "its caller has waited too long".to_owned());
            self.after(wait, Happening::Answers { request, answer });
        }
    }

    /// Runs the next command of the driver's protocol.
    pub fn goes_on(&mut self, number: u64) {
        let Some(driver) = self.drivers.get(&number) else { return };
        let (turn, work) = (driver.turn, driver.work.clone());
        self.troubles(driver.incarnation.process);
        match work {
            Work::Confirm(_, command) => self.confirms_on(number, turn, command),
            Work::Resolve(_, command, _) => self.resolves_on(number, turn, command),
            Work::Finding => self.commit((number, turn), Transaction::Find),
            Work::Closing(id) => self.commit((number, turn), Transaction::Close(id)),
        }
    }

    fn confirms_on(&mut self, number: u64, turn: u32, command: ConfirmCommand<Rejection>) {
        match command {
            ConfirmCommand::Reserve => self.commit((number, turn), Transaction::Reserve),
            ConfirmCommand::Send { .. } => self.connects(number, turn),
            ConfirmCommand::Record(event) => self.commit((number, turn), Transaction::Record(event)),
            ConfirmCommand::Refuse(rejection) => {
                self.ends(number, |_driver| Some(Answer::Rejected(rejection)));
            }
            ConfirmCommand::Answer => {
                let id = self.drivers.get(&number).map_or(usize::MAX, |driver| driver.order.id);
                let answer = self.as_it_stands(id);
                self.ends(number, |_driver| Some(answer));
            }
        }
    }

    fn resolves_on(&mut self, number: u64, turn: u32, command: ResolveCommand) {
        match command {
            ResolveCommand::Claim => self.commit((number, turn), Transaction::Record(Event::Claimed)),
            ResolveCommand::TakeTurn(fence) => self.commit((number, turn), Transaction::TakeTurn(fence)),
            ResolveCommand::Enquire => {
                let wait = self.chance.within(5..=400);
                self.after(wait, Happening::Enquires { driver: number, turn });
            }
            ResolveCommand::RecordRepeat(fence) => {
                self.is_to_send(number, None);
                self.commit((number, turn), Transaction::Record(Event::SentAgain { fence }));
            }
            ResolveCommand::RecordAttempt(fence) => {
                let name = self.fresh_name();
                self.is_to_send(number, Some(name));
                let reference = reference(name);
                self.commit((number, turn), Transaction::Record(Event::AttemptStarted { fence, reference }));
            }
            ResolveCommand::Send { .. } => self.connects(number, turn),
            ResolveCommand::Record(event) => self.commit((number, turn), Transaction::Record(event)),
            ResolveCommand::Answer(answer) => self.resolved(number, answer),
        }
    }

    fn is_to_send(&mut self, number: u64, name: Option<u32>) {
        let now = self.now;
        if let Some(driver) = self.drivers.get_mut(&number) {
            driver.began_at = now;
            driver.name = name.unwrap_or(driver.name);
        }
    }

    fn resolved(&mut self, number: u64, answer: ResolveAnswer) {
        let Some(driver) = self.drivers.get_mut(&number) else { return };
        if driver.asker() == Some(Asker::Worker) {
            self.drivers.remove(&number);
            self.finished.insert(number);
            return;
        }
        match answer {
            ResolveAnswer::Pending => self.ends(number, |driver| Some(Answer::Pending(driver.order.id))),
            ResolveAnswer::Unreachable => self.ends(number, |_driver| Some(Answer::Unreachable)),
            ResolveAnswer::Final => {
                driver.work = Work::Closing(driver.order.id);
                self.goes_on(number);
            }
        }
    }

    /// Removes the driver, and answers its caller if one waits.
    fn ends(&mut self, number: u64, answer: impl FnOnce(&Driver) -> Option<Answer>) {
        let Some(driver) = self.drivers.remove(&number) else { return };
        self.finished.insert(number);
        let (Some(answer), Some(request)) = (answer(&driver), driver.request) else { return };
        self.answers(&driver, request, answer);
    }

    fn as_it_stands(&self, id: usize) -> Answer {
        match self.database.rows.get(&id).map(|row| row.lifecycle.state.name()) {
            Some(StateName::Successful) => Answer::Successful(id),
            Some(StateName::Failed) => Answer::Failed(id),
            Some(StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review)
            | None => Answer::Open(id),
        }
    }

    fn answers(&mut self, driver: &Driver, request: Request, answer: Answer) {
        self.tells(Some(driver.order.id).filter(|id| *id != usize::MAX), || format!("answer: {answer:?}"));
        self.is_told(driver, answer);
        if !self.chance.happens(self.options.answers_lost) {
            let wait = self.chance.within(1..=200);
            self.after(wait, Happening::Answers { request, answer });
        }
    }

    fn commit(&mut self, (driver, turn): (u64, u32), transaction: Transaction) {
        let takes = if self.options.database_is_slow {
            self.chance.within(1..=4 * SECOND)
        } else {
            self.chance.within(1..=30)
        };
        let fate = self.fate();
        let read = self.reads(driver);
        let late = match &transaction {
            Transaction::Record(event) if self.chance.happens(self.options.commits_late) => {
                Some(event.clone())
            }
            Transaction::Record(_)
            | Transaction::Reserve
            | Transaction::TakeTurn(_)
            | Transaction::Find
            | Transaction::Close(_) => None,
        };
        if let Some(event) = late {
            let purchase = self.drivers.get(&driver).map_or(usize::MAX, |driver| driver.order.id);
            let wait = self.chance.within(1..=300 * SECOND);
            self.after(wait, Happening::CommitsLate { purchase, event });
            self.after(COMMIT_DEADLINE, Happening::Hears { driver, turn, news: News::Unacknowledged });
            return;
        }
        self.after(takes, Happening::Commits { driver, turn, transaction, fate, read });
    }

    /// The row as a driver with the flaw that forgets to compare has read it before.
    fn reads(&self, driver: u64) -> Option<Lifecycle> {
        if self.options.flaw != Some(Flaw::ForgetsToCompare) {
            return None;
        }
        let id = self.drivers.get(&driver)?.order.id;
        self.database.rows.get(&id).map(|row| row.lifecycle.clone())
    }

    fn fate(&mut self) -> Fate {
        if self.now >= self.options.faults_end {
            return Fate::Well;
        }
        if self.chance.happens(self.options.acknowledgements_lost) {
            return Fate::Unheard;
        }
        if self.chance.happens(self.options.commits_lost) {
            return self.chance.one_of(&[Fate::Lost, Fate::NotKept]);
        }
        Fate::Well
    }

    pub fn commits(
        &mut self,
        (driver, turn): (u64, u32),
        transaction: Transaction,
        fate: Fate,
        read: Option<Lifecycle>,
    ) {
        let fate = if self.database_is_away() { Fate::NotKept } else { fate };
        // A process that was killed has sent it all the same.
        let Some(order) = self.drivers.get(&driver).map(|driver| driver.order) else { return };
        let news = match fate {
            Fate::Well => Some(self.transacts(driver, order.id, transaction, read)),
            Fate::Unheard => {
                self.transacts(driver, order.id, transaction, read);
                None
            }
            Fate::Lost => None,
            Fate::NotKept => {
                let wait = self.chance.within(50..=3 * SECOND);
                self.after(wait, Happening::Hears { driver, turn, news: News::NotKept });
                return;
            }
        };
        let (wait, news) = match news {
            Some(news) => (self.chance.within(1..=20), news),
            None => (COMMIT_DEADLINE, News::Unacknowledged),
        };
        self.after(wait, Happening::Hears { driver, turn, news });
    }

    fn transacts(
        &mut self,
        driver: u64,
        id: usize,
        transaction: Transaction,
        read: Option<Lifecycle>,
    ) -> News {
        let now = self.now;
        match transaction {
            Transaction::Record(Event::SentAgain { .. })
                if self.options.flaw == Some(Flaw::SendsOffTheRecord) =>
            {
                let Recorded { lifecycle, at, name, .. } = self.database.read(now, id);
                News::Recorded(Recorded { lifecycle, at, name, moved: true })
            }
            Transaction::Reserve => self.reserves(driver),
            Transaction::TakeTurn(fence) => {
                let is_taken = self.database.take_turn(now, id, fence);
                self.judges_turns(id);
                News::Turn(is_taken)
            }
            Transaction::Record(event) => News::Recorded(self.records(id, &event, read)),
            Transaction::Find => {
                let Some(key) = self.drivers.get(&driver).map(|driver| driver.order.key) else {
                    return News::NotKept;
                };
                let found = self.database.find(now, key);
                if found.is_none() {
                    self.is_found(key, now);
                }
                News::Found(found.map(|id| self.found(id)))
            }
            Transaction::Close(known) => {
                let key = self.database.row(known).order.key;
                let newer = self.database.close(now, key, known);
                News::Found(newer.map(|id| self.found(id)))
            }
        }
    }

    fn reserves(&mut self, driver: u64) -> News {
        let Some((order, request)) = self.drivers.get(&driver).map(|driver| (driver.order, driver.request))
        else {
            return News::NotKept;
        };
        let caller = Caller {
            age: Duration::from_millis(self.now - order.arrived_at),
            has_hung_up: request.is_some_and(|request| self.is_hung_up(request)),
        };
        match self.database.reserve(self.now, &order, caller) {
            Ok((fence, is_new)) => {
                self.tells(Some(order.id), || format!("reserved for subscriber {}", order.key.subscriber));
                self.judges(order.id);
                News::Reserved(fence, is_new)
            }
            Err(rejection) => News::Refused(rejection),
        }
    }

    pub fn records(&mut self, id: usize, event: &Event, read: Option<Lifecycle>) -> Recorded {
        let recorded = self.database.record(self.now, id, event, read);
        if recorded.moved {
            self.sees(event.kind().as_str());
            self.sees(recorded.lifecycle.state.name().as_str());
        }
        self.tells(Some(id), || {
            let verdict = if recorded.moved { "moved" } else { "no place" };
            format!(
                "{event:?}: {verdict}, {:?} under {:?}",
                recorded.lifecycle.state.name(),
                recorded.lifecycle.fence
            )
        });
        self.judges(id);
        recorded
    }

    pub fn commits_late(&mut self, purchase: usize, event: &Event) {
        if self.database.rows.contains_key(&purchase) {
            self.sees("late commit");
            self.records(purchase, event, None);
        }
    }

    fn found(&self, id: usize) -> Found {
        let row = self.database.row(id);
        let (order, lifecycle, name) = (row.order, row.lifecycle.clone(), row.name);
        Found { order, lifecycle, at: self.database.at(self.now), name }
    }

    pub fn hears(&mut self, number: u64, turn: u32, news: News) {
        let now = self.now;
        let forgets_the_gate = self.options.flaw == Some(Flaw::SendsBehindTheGate);
        let Some(driver) = self.drivers.get_mut(&number).filter(|driver| driver.turn == turn) else { return };
        driver.turn += 1;
        match (&driver.work, news) {
            (Work::Finding | Work::Closing(_), News::Found(Some(found))) => {
                let rules = *self
                    .database
                    .rules
                    .get(found.order.connection)
                    .expect("a connection of this simulation");
                let protocol = Resolve::begin(Asker::Integrator, &found.lifecycle, found.at, &rules);
                driver.takes(&found, protocol);
                self.goes_on(number);
            }
            (Work::Finding, News::Found(None)) => self.ends(number, |_driver| Some(Answer::NotFound)),
            (Work::Closing(id), News::Found(None)) => {
                let id = *id;
                let answer = self.as_it_stands(id);
                let answer = if matches!(answer, Answer::Open(_)) { Answer::Pending(id) } else { answer };
                self.ends(number, |_driver| Some(answer));
            }
            // A question that the database does not answer is an internal error, which says nothing about the
            // purchase.
            (Work::Finding | Work::Closing(_), _) => self.ends(number, |_driver| None),
            (Work::Confirm(..) | Work::Resolve(..), news) => {
                let held_before = driver.fence;
                driver.hears(news, if forgets_the_gate { driver.began_at } else { now });
                if held_before.is_none() && driver.fence.is_some() {
                    self.after(RENEWAL, Happening::RenewsLease { driver: number });
                }
                self.goes_on(number);
            }
        }
    }

    /// A holder renews its lease for as long as it works.
    pub fn renews_lease(&mut self, number: u64) {
        let Some(driver) = self.drivers.get(&number) else { return };
        let (id, fence) = (driver.order.id, driver.fence);
        if let Some(fence) = fence.filter(|_| self.database.rows.contains_key(&id))
            && matches!(self.fate(), Fate::Well | Fate::Unheard)
            && !self.database_is_away()
        {
            self.database.renew(self.now, id, fence);
        }
        self.after(RENEWAL, Happening::RenewsLease { driver: number });
    }

    /// Opens a connection. This takes a moment in which the gate may close.
    fn connects(&mut self, driver: u64, turn: u32) {
        let wait = if self.chance.happens(5) {
            self.chance.within(1..=8 * SECOND)
        } else {
            self.chance.within(1..=300)
        };
        self.after(wait, Happening::Leaves { driver, turn });
    }

    /// The last check of the gate. Then the one request, and its deadline.
    pub fn leaves(&mut self, number: u64, turn: u32) {
        let timing = Timing::default();
        let Some(driver) = self.drivers.get(&number).filter(|driver| driver.turn == turn) else { return };
        let (order, name) = (driver.order, driver.name);
        let Some(leave_within) = driver.leave_within() else { return };
        let is_open = self.options.flaw == Some(Flaw::SendsBehindTheGate)
            || self.now - driver.began_at <= length(leave_within);
        let asker = driver.asker();
        let now = self.now;
        let outage = self.provider(order.connection).outage(now);
        if !is_open || outage.is_some_and(|outage| outage.refuses_connections) {
            let never_sent = VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent));
            self.sees("never left");
            self.after(1, Happening::Hears { driver: number, turn, news: News::Answered(never_sent) });
            return;
        }
        let amount = order.price.net.minor();
        let wire = WireOrder { purchase: order.id, name, subscriber: order.key.subscriber, amount };
        let connection = order.connection;
        let provider = self.providers.get_mut(connection).expect("a connection of this simulation");
        let (copy, arrivals) = provider.send(wire, now, &mut self.chance);
        self.tells(Some(order.id), || format!("an order leaves as {name}, arrives at {arrivals:?}"));
        for arrives_at in arrivals {
            self.at(arrives_at, Happening::Arrives { connection, copy, sender: (number, turn) });
        }
        let timed_out = News::Answered(VendOutcome::Unknown(Doubt::TimedOut.into()));
        self.after(
            length(timing.provider_timeout),
            Happening::Hears { driver: number, turn, news: timed_out },
        );
        self.judges_a_send(order.id, asker, &timing);
    }

    pub fn arrives(&mut self, connection: usize, copy: usize, sender: (u64, u32)) {
        let is_over = self.drivers.get(&sender.0).is_some_and(|driver| driver.turn != sender.1)
            || self.finished.contains(&sender.0);
        let now = self.now;
        let provider = self.providers.get_mut(connection).expect("a connection of this simulation");
        if is_over && provider.arrives_no_more(copy, now) {
            provider.lose(copy);
            return;
        }
        let Some((order, reply)) = provider.receive(copy, &mut self.chance) else { return };
        self.tells(Some(order.purchase), || format!("the provider: {:?}", reply.outcome.in_words()));
        self.judges(order.purchase);
        let nature = &self.providers.get(connection).expect("a connection of this simulation").nature;
        let (loses, slow) = (nature.loses_replies, nature.takes_95_seconds);
        if self.chance.happens(loses) {
            if self.chance.happens(50) {
                let wait = self.chance.within(1..=20 * SECOND);
                let lost = News::Answered(VendOutcome::Unknown(Doubt::ConnectionLost.into()));
                self.after(wait, Happening::Hears { driver: sender.0, turn: sender.1, news: lost });
            }
            return;
        }
        let wait = if self.chance.happens(slow) { 95 * SECOND } else { self.chance.within(20..=3 * SECOND) };
        self.after(wait, Happening::Replies { connection, sender, reply });
    }

    /// A reply comes back: to its sender, to another sender, or changed.
    pub fn replies(&mut self, connection: usize, sender: (u64, u32), reply: Reply) {
        let nature = &self.providers.get(connection).expect("a connection of this simulation").nature;
        let (garbles, swaps) = (nature.garbles_replies, nature.swaps_replies);
        if let Some((other, others)) = self.astray.remove(&connection) {
            self.sees("swapped");
            self.is_delivered(sender, others);
            self.is_delivered(other, reply);
        } else if self.chance.happens(swaps) {
            self.astray.insert(connection, (sender, reply));
        } else if self.chance.happens(garbles) {
            let doubt = self.chance.one_of(&[Doubt::Unreadable, Doubt::UnlistedFault, Doubt::Mismatched]);
            self.is_delivered(sender, Reply { outcome: VendOutcome::Unknown(doubt.into()), ..reply });
        } else {
            self.is_delivered(sender, reply);
        }
    }

    /// A reply counts only if it names the order that it answers.
    fn is_delivered(&mut self, (driver, turn): (u64, u32), reply: Reply) {
        let Some(name) = self.drivers.get(&driver).map(|driver| driver.name) else { return };
        let outcome =
            if name == reply.name { reply.outcome } else { VendOutcome::Unknown(Doubt::Mismatched.into()) };
        self.after(1, Happening::Hears { driver, turn, news: News::Answered(outcome) });
    }

    pub fn enquires(&mut self, number: u64, turn: u32) {
        let Some(driver) = self.drivers.get(&number).filter(|driver| driver.turn == turn) else { return };
        let (connection, name, id, now) = (driver.order.connection, driver.name, driver.order.id, self.now);
        let provider = self.providers.get(connection).expect("a connection of this simulation");
        let is_silent = provider.outage(now).is_some() || self.chance.happens(provider.nature.is_silent);
        let (wait, enquiry) = if is_silent {
            (ENQUIRY_DEADLINE, Enquiry::Unanswered(Doubt::TimedOut.into()))
        } else {
            (self.chance.within(5..=2 * SECOND), provider.enquiry(name, now, &mut self.chance))
        };
        self.tells(Some(id), || format!("asked about {name}: {:?}", enquiry.in_words()));
        self.sees(enquiry.in_words().0);
        self.after(wait, Happening::Hears { driver: number, turn, news: News::Enquired(enquiry) });
    }

    /// Claims as many purchases as there are free slots. Only one look runs at a time.
    pub fn worker_looks(&mut self, incarnation: Incarnation) {
        let slots = usize::from(self.options.slots);
        let busy = |connection: usize| {
            let at_work =
                |driver: &&Driver| driver.incarnation == incarnation && driver.order.connection == connection;
            self.drivers.values().filter(at_work).count()
        };
        let slots: Vec<_> =
            (0..self.providers.len()).map(|connection| slots.saturating_sub(busy(connection))).collect();
        let wait = self.chance.within(1..=30);
        let fate = self.fate();
        self.after(wait, Happening::ClaimsDue { incarnation, slots, fate });
    }

    pub fn claims_due(&mut self, incarnation: Incarnation, slots: &[usize], fate: Fate) {
        let is_kept = matches!(fate, Fate::Well | Fate::Unheard) && !self.database_is_away();
        let mut claimed = Vec::new();
        if is_kept {
            for (connection, slots) in slots.iter().enumerate() {
                claimed.extend(self.database.claim_due(self.now, connection, *slots));
            }
        }
        for (id, recorded) in &claimed {
            let fence = recorded.lifecycle.fence;
            self.tells(Some(*id), || format!("claimed by process {} under {fence:?}", incarnation.process));
            self.judges(*id);
        }
        let is_heard = is_kept && fate == Fate::Well;
        let claimed = if is_heard { claimed } else { Vec::new() };
        let wait = if is_heard { self.chance.within(1..=20) } else { COMMIT_DEADLINE };
        self.after(wait, Happening::TakesUp { incarnation, claimed });
    }

    pub fn takes_up(&mut self, incarnation: Incarnation, claimed: Vec<(usize, Recorded)>) {
        for (id, Recorded { lifecycle, at, name, .. }) in claimed {
            let order = self.database.row(id).order;
            let rules = *self.database.rules.get(order.connection).expect("a connection of this simulation");
            let (machine, command) = Resolve::claimed(Asker::Worker, &lifecycle, at, &rules);
            let driver = Driver {
                incarnation,
                turn: 0,
                work: Work::Resolve(machine, command, Asker::Worker),
                order,
                request: None,
                began_at: self.now,
                claimed_at: at,
                fence: Some(lifecycle.fence),
                name,
            };
            let number = self.adds_driver(driver);
            self.after(RENEWAL, Happening::RenewsLease { driver: number });
            self.goes_on(number);
        }
        let wait = self.chance.within(SECOND..=5 * SECOND);
        self.after(wait, Happening::WorkerLooks(incarnation));
    }
}

fn reference(name: u32) -> ProviderReference {
    ProviderReference::new(CallId::new(name, OPENING).expect("attempts are few"))
}
