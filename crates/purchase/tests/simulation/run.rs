//! A simulation and its time: what happens when, and to which process. A process that is paused gets an event later.
//! A process that was killed never gets it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use ledger::AccountId;
use purchase::{Event, Fence, Lifecycle, Rules, Timing};

use crate::chance::Chance;
use crate::crowd::{Answer, Intent, Step};
use crate::database::{ConfirmRequest, Database, Key, Recorded};
use crate::driver::{Driver, Incarnation, News, Request};
use crate::invariants::Violation;
use crate::options::{MINUTE, Options, SECOND};
use crate::provider::{Provider, Reply};

/// How one transaction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Well,
    /// Committed, but its acknowledgement is lost.
    Unheard,
    /// Not committed, and no answer says so.
    Lost,
    /// Not committed, and that is known.
    NotKept,
}

#[derive(Clone, Debug)]
pub enum Transaction {
    Reserve,
    Record(Event),
    TakeTurn(Fence),
    Find,
    Close(usize),
}

#[derive(Clone, Debug)]
pub enum Happening {
    /// An integrator acts, or has waited long enough for the nth answer.
    Wakes(Request),
    /// A request reaches the machine of a server, which may be paused.
    RequestArrives {
        request: Request,
        step: Step,
        sent_at: u64,
        server: usize,
    },
    /// The server reads a request from its socket.
    RequestIsRead {
        driver: u64,
        step: Step,
    },
    RenewsLease {
        driver: u64,
    },
    /// The time by which an integrator was promised that the outcome of a purchase is known.
    IsKnown(usize),
    /// The steps before the reserve are over.
    Begins {
        driver: u64,
    },
    Commits {
        driver: u64,
        turn: u32,
        transaction: Transaction,
        fate: Fate,
        read: Option<Lifecycle>,
    },
    /// A transaction that was given up as lost is committed all the same.
    CommitsLate {
        purchase: usize,
        event: Event,
    },
    Hears {
        driver: u64,
        turn: u32,
        news: News,
    },
    /// The connection is open, and the first byte is about to be sent.
    Leaves {
        driver: u64,
        turn: u32,
    },
    Arrives {
        connection: usize,
        copy: usize,
        sender: (u64, u32),
    },
    /// A reply is on its way back. It may still be exchanged with another one.
    Replies {
        connection: usize,
        sender: (u64, u32),
        reply: Reply,
    },
    Enquires {
        driver: u64,
        turn: u32,
    },
    Answers {
        request: Request,
        answer: Answer,
    },
    /// The caller of a confirm does not wait any longer.
    WaitsTooLong {
        driver: u64,
        request: Request,
    },
    WorkerLooks(Incarnation),
    ClaimsDue {
        incarnation: Incarnation,
        slots: Vec<usize>,
        fate: Fate,
    },
    TakesUp {
        incarnation: Incarnation,
        claimed: Vec<(usize, Recorded)>,
    },
    Kills(usize),
    Pauses(usize, u64),
    ClockJumps(TimeDelta),
    OperatorLooks {
        again: bool,
    },
    FaultsEnd,
    /// By now every vend is found and paid for.
    VendsAreFound,
    /// By now every purchase has ended or is in review.
    AllIsDecided,
    /// By now every purchase has ended.
    Closes,
}

#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub is_worker: bool,
    pub incarnation: u32,
    /// The process is dead until this time.
    pub up_from: u64,
    /// The process is paused until this time.
    pub goes_on_from: u64,
}

pub struct Simulation {
    pub options: Options,
    pub now: u64,
    pub chance: Chance,
    /// Boxed: the queue moves its entries often.
    queue: BTreeMap<(u64, u64), Box<Happening>>,
    queued: u64,
    pub database: Database,
    pub database_outages: Vec<(u64, u64)>,
    pub providers: Vec<Provider>,
    /// A reply that waits to be exchanged with the next one.
    pub astray: BTreeMap<usize, ((u64, u32), Reply)>,
    pub processes: Vec<Process>,
    pub drivers: BTreeMap<u64, Driver>,
    /// Drivers whose work ended without a crash.
    pub finished: BTreeSet<u64>,
    pub intents: Vec<Intent>,
    pub next_driver: u64,
    pub next_purchase: usize,
    pub next_name: u32,
    pub record: crate::invariants::Witness,
    pub log: Log,
    pub sights: BTreeSet<&'static str>,
}

/// The result of a simulation.
#[derive(Debug)]
pub struct Outcome {
    pub options: Options,
    pub steps: u64,
    pub purchases: usize,
    pub sights: BTreeSet<&'static str>,
    pub violation: Option<Violation>,
    pub log: Vec<String>,
}

/// The log of a simulation, if it is wanted.
#[derive(Debug, Default)]
pub struct Log {
    pub is_wanted: bool,
    pub lines: Vec<String>,
}

pub const WALLETS: [AccountId; 2] = [AccountId(1), AccountId(2)];

/// The time for a late commit and for one vend to be found.
fn until_vends_are_found(timing: &Timing) -> u64 {
    5 * MINUTE + until_a_vend_is_found(timing)
}

/// A lease, the longest pause between two looks, a send, and a margin.
pub fn until_a_vend_is_found(timing: &Timing) -> u64 {
    length(timing.lease) + length(timing.plan.longest_pause) + 4 * MINUTE
}

fn until_all_is_decided(timing: &Timing) -> u64 {
    until_vends_are_found(timing) + length(timing.window)
}

pub fn length(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("a length of the time chain is short")
}

impl Simulation {
    pub fn new(options: Options, is_wanted: bool) -> Self {
        let timing = Timing::default();
        let rules = |connection: &crate::options::Connection| Rules { declared: connection.declared, timing };
        let database = Database::new(options.connections.iter().map(rules).collect(), options.flaw);
        let providers =
            options.connections.iter().map(|connection| Provider::new(connection.nature.clone())).collect();
        let process = |is_worker| Process { is_worker, incarnation: 0, up_from: 0, goes_on_from: 0 };
        let processes = (0..options.servers)
            .map(|_nth| process(false))
            .chain((0..options.workers).map(|_nth| process(true)))
            .collect();
        let mut simulation = Self {
            chance: Chance::seeded(options.seed ^ 0x5EED),
            options,
            now: 0,
            queue: BTreeMap::new(),
            queued: 0,
            database,
            database_outages: Vec::new(),
            providers,
            astray: BTreeMap::new(),
            processes,
            drivers: BTreeMap::new(),
            finished: BTreeSet::new(),
            intents: Vec::new(),
            next_driver: 0,
            next_purchase: 0,
            next_name: 0,
            record: crate::invariants::Witness::default(),
            log: Log { is_wanted, lines: Vec::new() },
            sights: BTreeSet::new(),
        };
        simulation.opens();
        simulation
    }

    fn opens(&mut self) {
        let funds = if self.options.is_poor { 30_000 } else { 100_000_000 };
        for wallet in WALLETS {
            let handling = Options::handling(&mut self.chance);
            self.database.opens_purse(wallet, funds, handling);
        }
        self.gathers_crowd();
        self.plans_trouble();
        let timing = Timing::default();
        let end = self.options.faults_end;
        self.at(end, Happening::FaultsEnd);
        self.at(end + until_vends_are_found(&timing), Happening::VendsAreFound);
        let decided = end + until_all_is_decided(&timing);
        self.at(decided, Happening::AllIsDecided);
        for minute in 0..20 {
            self.at(decided + minute * MINUTE + 1, Happening::OperatorLooks { again: false });
        }
        self.at(decided + 21 * MINUTE, Happening::Closes);
    }

    /// Runs it to its end, or until an invariant is violated.
    pub fn run(mut self) -> Outcome {
        let mut steps = 0;
        while let Some(((at, _), happening)) = self.queue.pop_first() {
            self.now = at;
            match self.whereabouts(&happening) {
                Whereabouts::Gone => continue,
                Whereabouts::HeldUp { until } => {
                    self.at(until, *happening);
                    continue;
                }
                Whereabouts::There => {}
            }
            let is_over = matches!(*happening, Happening::Closes);
            self.happens(*happening);
            steps += 1;
            if is_over || self.record.violation.is_some() {
                break;
            }
        }
        Outcome {
            steps,
            purchases: self.database.rows.len(),
            violation: self.record.violation,
            sights: self.sights,
            log: self.log.lines,
            options: self.options,
        }
    }

    pub fn at(&mut self, at: u64, happening: Happening) {
        self.queued += 1;
        self.queue.insert((at, self.queued), Box::new(happening));
    }

    pub fn after(&mut self, wait: u64, happening: Happening) {
        self.at(self.now + wait, happening);
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Wakes(request) => self.wakes(request),
            Happening::RequestArrives { request, step, sent_at, server } => {
                self.request_arrives(request, step, sent_at, server);
            }
            Happening::RequestIsRead { driver, step } => self.request_is_read(driver, step),
            Happening::RenewsLease { driver } => self.renews_lease(driver),
            Happening::IsKnown(purchase) => self.judges_what_is_known(purchase),
            Happening::Begins { driver } => self.begins(driver),
            Happening::Commits { driver, turn, transaction, fate, read } => {
                self.commits((driver, turn), transaction, fate, read);
            }
            Happening::CommitsLate { purchase, event } => self.commits_late(purchase, &event),
            Happening::Hears { driver, turn, news } => self.hears(driver, turn, news),
            Happening::Leaves { driver, turn } => self.leaves(driver, turn),
            Happening::Arrives { connection, copy, sender } => self.arrives(connection, copy, sender),
            Happening::Replies { connection, sender, reply } => self.replies(connection, sender, reply),
            Happening::Enquires { driver, turn } => self.enquires(driver, turn),
            Happening::Answers { request, answer } => self.is_answered(request, answer),
            Happening::WaitsTooLong { driver, request } => self.waits_too_long(driver, request),
            Happening::WorkerLooks(incarnation) => self.worker_looks(incarnation),
            Happening::ClaimsDue { incarnation, slots, fate } => self.claims_due(incarnation, &slots, fate),
            Happening::TakesUp { incarnation, claimed } => self.takes_up(incarnation, claimed),
            Happening::Kills(process) => self.kills(process),
            Happening::Pauses(process, wait) => self.pauses(process, wait),
            Happening::ClockJumps(by) => self.database.ahead += by,
            Happening::OperatorLooks { again } => self.operator_looks(again),
            Happening::FaultsEnd => self.faults_end(),
            Happening::VendsAreFound => self.vends_are_found(),
            Happening::AllIsDecided => self.all_is_decided(),
            Happening::Closes => self.closes(),
        }
    }

    /// Whether the process of an event is there, paused or gone.
    fn whereabouts(&self, happening: &Happening) -> Whereabouts {
        let incarnation = match happening {
            Happening::Begins { driver }
            | Happening::RequestIsRead { driver, .. }
            | Happening::RenewsLease { driver }
            | Happening::Hears { driver, .. }
            | Happening::Leaves { driver, .. }
            | Happening::WaitsTooLong { driver, .. }
            | Happening::Enquires { driver, .. } => match self.drivers.get(driver) {
                Some(driver) => driver.incarnation,
                None => return Whereabouts::Gone,
            },
            Happening::WorkerLooks(incarnation) | Happening::TakesUp { incarnation, .. } => *incarnation,
            Happening::Wakes(_)
            | Happening::RequestArrives { .. }
            | Happening::IsKnown(_)
            | Happening::Commits { .. }
            | Happening::CommitsLate { .. }
            | Happening::Arrives { .. }
            | Happening::Replies { .. }
            | Happening::Answers { .. }
            | Happening::ClaimsDue { .. }
            | Happening::Kills(_)
            | Happening::Pauses(..)
            | Happening::ClockJumps(_)
            | Happening::OperatorLooks { .. }
            | Happening::FaultsEnd
            | Happening::VendsAreFound
            | Happening::AllIsDecided
            | Happening::Closes => return Whereabouts::There,
        };
        match self.processes.get(incarnation.process) {
            Some(process) if process.incarnation == incarnation.number => {
                if process.goes_on_from > self.now {
                    Whereabouts::HeldUp { until: process.goes_on_from }
                } else {
                    Whereabouts::There
                }
            }
            Some(_) | None => Whereabouts::Gone,
        }
    }

    /// What is still in transit when the faults end arrives soon, or never.
    pub fn clears_the_network(&mut self) {
        let soon = self.now + SECOND;
        let is_late = |happening: &Happening| matches!(*happening, Happening::Arrives { .. });
        let late: Vec<_> = self
            .queue
            .range((soon, 0)..)
            .filter(|(_, happening)| is_late(happening))
            .map(|(key, _)| *key)
            .collect();
        for key in late {
            let Some(Happening::Arrives { connection, copy, sender }) =
                self.queue.remove(&key).map(|boxed| *boxed)
            else {
                continue;
            };
            if self.chance.happens(50) {
                let wait = self.chance.within(1..=MINUTE);
                self.after(wait, Happening::Arrives { connection, copy, sender });
            } else if let Some(provider) = self.providers.get_mut(connection) {
                provider.lose(copy);
            }
        }
    }

    pub fn database_is_away(&self) -> bool {
        self.database_outages.iter().any(|(from, until)| (*from..*until).contains(&self.now))
    }

    pub fn provider(&mut self, connection: usize) -> &mut Provider {
        self.providers.get_mut(connection).expect("every order names a connection of this simulation")
    }

    pub fn order(&mut self, intent: usize, sent_at: u64) -> ConfirmRequest {
        let intent_ = self.intents.get(intent).expect("every request names an intent of this simulation");
        let (key, wallet, connection, price) =
            (intent_.key, intent_.wallet, intent_.connection, intent_.price);
        let (id, name, arrived_at) = (usize::MAX, self.fresh_name(), self.now);
        ConfirmRequest { id, intent, key, wallet, connection, price, name, sent_at, arrived_at }
    }

    pub fn fresh_name(&mut self) -> u32 {
        self.next_name += 1;
        self.next_name
    }

    pub fn tells(&mut self, purchase: Option<usize>, line: impl FnOnce() -> String) {
        if self.log.is_wanted {
            let about = purchase.map_or(String::new(), |id| format!("purchase {id}: "));
            let now = self.now;
            self.log.lines.push(format!("{:>6}.{:03} {about}{}", now / SECOND, now % SECOND, line()));
        }
    }

    pub fn sees(&mut self, sight: &'static str) {
        self.sights.insert(sight);
    }

    pub fn is_found(&mut self, key: Key, at: u64) {
        self.record.absent.insert(key, at);
    }
}

enum Whereabouts {
    There,
    HeldUp { until: u64 },
    Gone,
}
