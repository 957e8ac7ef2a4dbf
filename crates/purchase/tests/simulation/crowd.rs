//! The integrators of a simulation. Some follow the guide: they ask again about an answer that is not final, and
//! confirm again only after a definite no. Some confirm again and again. Some never ask again.

use ledger::AccountId;
use money::Rate;
use purchase::{FeeSchedule, Price, Terms};

use crate::chance::Chance;
use crate::database::{Key, Rejection, pula};
use crate::driver::{Driver, Incarnation, Request, Work};
use crate::flaw::Flaw;
use crate::options::{MINUTE, SECOND};
use crate::run::{Happening, Simulation, WALLETS};
use crate::values::OPENING;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    FollowsTheGuide,
    IsCareless,
    /// Asks again at a pace of its own, whatever the answer is.
    IsImpatient,
    Vanishes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Confirms,
    Retries,
}

/// What an integrator wants to buy, once.
#[derive(Clone, Debug)]
pub struct Intent {
    pub manner: Manner,
    pub key: Key,
    pub wallet: AccountId,
    pub connection: usize,
    pub price: Price,
    step: Option<Step>,
    asked: u32,
    is_waiting: bool,
    confirms: u32,
    patience: u64,
    /// How long it waits before it asks again, if it does not follow the guide.
    pace: u64,
}

/// The answer to an integrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Rejected(Rejection),
    Successful(usize),
    Failed(usize),
    Open(usize),
    NotFound,
    Pending(usize),
    Unreachable,
}

impl Intent {
    fn drawn(chance: &mut Chance, subscribers: u64, connections: u64, reference: u64) -> Self {
        let manners = if chance.happens(8) {
            [Manner::IsImpatient; 4]
        } else {
            [Manner::FollowsTheGuide, Manner::FollowsTheGuide, Manner::IsCareless, Manner::Vanishes]
        };
        let amount = i64::try_from(chance.within(500..=20_000)).expect("small");
        let terms = Terms {
            fees: FeeSchedule {
                fixed: pula(150),
                rate: Rate::parse("0.01").expect("a rate"),
                floor: None,
                cap: None,
            },
            commission: Rate::parse("0.015").expect("a rate"),
            minimum: None,
            maximum: None,
        };
        let connection = usize::try_from(chance.within(0..=connections - 1)).expect("few");
        Self {
            manner: chance.one_of(&manners),
            key: Key { subscriber: chance.within(1..=subscribers), reference },
            wallet: chance.one_of(&WALLETS),
            connection,
            price: Price::of(pula(amount), chance.happens(50), &terms).expect("more than its charges"),
            step: Some(Step::Confirms),
            asked: 0,
            is_waiting: false,
            confirms: 0,
            patience: chance.one_of(&[3 * SECOND, 10 * SECOND, 60 * SECOND, 155 * SECOND]),
            pace: chance.one_of(&[200, SECOND, 3 * SECOND, 10 * SECOND, 20 * SECOND, MINUTE]),
        }
    }

    /// The next step after an answer, or after none, and how long the integrator waits before it.
    fn hears(&mut self, answer: Option<Answer>, chance: &mut Chance) -> Option<(Step, u64)> {
        let pause = match self.manner {
            Manner::IsImpatient => self.pace..=self.pace + self.pace / 4,
            Manner::FollowsTheGuide | Manner::IsCareless | Manner::Vanishes => 2 * SECOND..=5 * MINUTE,
        };
        let asks_again = Some((Step::Retries, chance.within(pause)));
        let wants_it_still = (self.confirms < 4).then(|| (Step::Confirms, chance.within(1..=2 * MINUTE)));
        match (self.manner, answer) {
            (Manner::Vanishes, _)
            | (_, Some(Answer::Successful(_) | Answer::Rejected(Rejection::Insufficient))) => None,
            (
                Manner::FollowsTheGuide | Manner::IsImpatient | Manner::IsCareless,
                Some(
                    Answer::NotFound
                    | Answer::Rejected(
                        Rejection::ReferenceClosed
                        | Rejection::TooLate
                        | Rejection::CallerGone
                        | Rejection::Overloaded,
                    ),
                ),
            ) => wants_it_still,
            (Manner::FollowsTheGuide | Manner::IsImpatient | Manner::IsCareless, Some(Answer::Failed(_))) => {
                if chance.happens(50) {
                    wants_it_still
                } else {
                    None
                }
            }
            (
                Manner::FollowsTheGuide | Manner::IsImpatient,
                Some(
                    Answer::Rejected(Rejection::Pending)
                    | Answer::Open(_)
                    | Answer::Pending(_)
                    | Answer::Unreachable,
                )
                | None,
            ) => asks_again,
            (
                Manner::IsCareless,
                Some(
                    Answer::Rejected(Rejection::Pending)
                    | Answer::Open(_)
                    | Answer::Pending(_)
                    | Answer::Unreachable,
                )
                | None,
            ) => {
                if chance.happens(50) {
                    wants_it_still
                } else {
                    asks_again
                }
            }
        }
    }
}

impl Simulation {
    pub fn gathers_crowd(&mut self) {
        let connections = u64::try_from(self.options.connections.len()).expect("few");
        let last = self.options.faults_end;
        for nth in 0..self.options.intents {
            let intent = Intent::drawn(&mut self.chance, self.options.subscribers, connections, nth);
            let request = Request { intent: self.intents.len(), nth: 0 };
            self.intents.push(intent);
            let when = self.chance.within(0..=last);
            self.at(when, Happening::Wakes(request));
        }
    }

    /// Either its patience is over, or it is time for its next step.
    pub fn wakes(&mut self, request: Request) {
        let faults_ended = self.now >= self.options.faults_end;
        let Some(intent) = self.intents.get_mut(request.intent) else { return };
        if intent.asked != request.nth {
            return;
        }
        if intent.is_waiting {
            intent.is_waiting = false;
            let next = intent.hears(None, &mut self.chance);
            self.goes_on_after(request, next);
            return;
        }
        let Some(step) = intent.step else { return };
        if step == Step::Confirms && faults_ended {
            return;
        }
        intent.confirms += u32::from(step == Step::Confirms);
        let copies = if intent.manner == Manner::IsCareless && self.chance.happens(30) { 3 } else { 1 };
        for _copy in 0..copies {
            self.asks(request.intent, step);
        }
    }

    fn asks(&mut self, number: usize, step: Step) {
        let Some(intent) = self.intents.get_mut(number) else { return };
        intent.asked += 1;
        intent.is_waiting = true;
        let (request, patience) = (Request { intent: number, nth: intent.asked }, intent.patience);
        self.after(patience, Happening::Wakes(request));
        let server = usize::try_from(self.chance.within(0..=self.options.servers - 1)).expect("few");
        if self.chance.happens(self.options.answers_lost / 2) {
            return;
        }
        let is_held = self.chance.happens(self.options.requests_held);
        let transit = if is_held { self.chance.within(SECOND..=MINUTE) } else { self.chance.within(1..=20) };
        let sent_at = self.now;
        self.after(transit, Happening::RequestArrives { request, step, sent_at, server });
    }

    /// A machine accepts a request even if its server does not read it. A machine whose server is down refuses it.
    pub fn request_arrives(&mut self, request: Request, step: Step, sent_at: u64, server: usize) {
        let process = *self.processes.get(server).expect("the servers come first");
        if process.up_from > self.now {
            return;
        }
        let order = self.order(request.intent, sent_at);
        let driver = Driver {
            incarnation: Incarnation { process: server, number: process.incarnation },
            turn: 0,
            work: Work::Finding,
            order,
            request: Some(request),
            began_at: self.now,
            claimed_at: OPENING,
            fence: None,
            name: order.name,
        };
        let driver = self.adds_driver(driver);
        self.after(1, Happening::RequestIsRead { driver, step });
    }

    pub fn request_is_read(&mut self, number: u64, step: Step) {
        let now = self.now;
        let ages_from_reading = self.options.flaw == Some(Flaw::AgesFromReading);
        let Some(driver) = self.drivers.get_mut(&number) else { return };
        if ages_from_reading {
            driver.order.arrived_at = now;
        }
        match step {
            Step::Confirms => {
                let wait = if self.chance.happens(5) {
                    self.chance.within(SECOND..=12 * SECOND)
                } else {
                    self.chance.within(5..=SECOND)
                };
                self.after(wait, Happening::Begins { driver: number });
            }
            Step::Retries => self.goes_on(number),
        }
    }

    /// Whether the caller of a request does not wait for it any more, as far as a server can see that.
    pub fn is_hung_up(&self, request: Request) -> bool {
        let waits = |intent: &Intent| intent.asked == request.nth && intent.is_waiting;
        !self.options.hang_ups_are_hidden && !self.intents.get(request.intent).is_some_and(waits)
    }

    pub fn is_answered(&mut self, request: Request, answer: Answer) {
        let Some(intent) = self.intents.get_mut(request.intent) else { return };
        if intent.asked != request.nth || !intent.is_waiting {
            return;
        }
        intent.is_waiting = false;
        let next = intent.hears(Some(answer), &mut self.chance);
        self.goes_on_after(request, next);
    }

    fn goes_on_after(&mut self, request: Request, next: Option<(Step, u64)>) {
        let Some(intent) = self.intents.get_mut(request.intent) else { return };
        intent.step = next.map(|(step, _)| step);
        // The earlier answer is not awaited any more.
        intent.asked += 1;
        let next_turn = Request { nth: intent.asked, ..request };
        if let Some((_, wait)) = next {
            self.after(wait, Happening::Wakes(next_turn));
        }
    }
}
