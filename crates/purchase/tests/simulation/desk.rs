//! Somebody at work in a simulated town: a shipped protocol, and what has to be remembered between two of its
//! commands. The protocol decides; the desk only says what it was told in the protocol's words.

use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmEvent, Fence, Life, Resolve, ResolveAnswer, ResolveCommand,
    ResolveEvent,
};
use vend::{Enquiry, VendOutcome};

use crate::database::{Order, Recorded, Rejection};

/// A process, and which of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub process: usize,
    pub incarnation: u32,
}

/// Who waits for the answer: the nth request of an integrator's intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub intent: usize,
    pub nth: u32,
}

#[derive(Clone, Debug)]
pub enum Work {
    Confirm(Confirm, ConfirmCommand),
    Resolve(Resolve, ResolveCommand, Asker),
    /// A retry looks for its purchase.
    Finding,
    /// Before a final answer about this one, its reference is closed.
    Closing(usize),
}

/// What a desk is told.
#[derive(Clone, Debug)]
pub enum News {
    Reserved(Fence),
    Refused(Rejection),
    /// This run was not kept, for certain.
    NotKept,
    Unacknowledged,
    Recorded(Recorded),
    Answered(VendOutcome),
    Enquired(Enquiry),
    /// Whether the turn to have an enquiry made was taken.
    Turn(bool),
    /// The newest purchase of a key, or a newer one than was known.
    Found(Option<Found>),
}

#[derive(Clone, Debug)]
pub struct Found {
    pub order: Order,
    pub life: Life,
    pub at: DateTime<Utc>,
    pub name: u32,
}

#[derive(Clone, Debug)]
pub struct Desk {
    pub seat: Seat,
    /// Raised by everything that it hears: what was awaited before is not listened to any more.
    pub turn: u32,
    pub work: Work,
    pub order: Order,
    pub request: Option<Request>,
    /// Since before the reserve, or before the latest send was put on record.
    pub began_at: u64,
    pub claimed_at: DateTime<Utc>,
    /// Under which it holds the purchase, for all it knows.
    pub fence: Option<Fence>,
    /// Of the attempt that is sent and asked about.
    pub name: u32,
    pub rejection: Rejection,
}

impl Desk {
    pub fn asker(&self) -> Option<Asker> {
        match &self.work {
            Work::Resolve(_, _, asker) => Some(*asker),
            Work::Confirm(..) | Work::Finding | Work::Closing(_) => None,
        }
    }

    /// A retry goes on with a purchase that it has found.
    pub fn takes(&mut self, found: &Found, protocol: (Resolve, ResolveCommand)) {
        self.order = found.order;
        self.name = found.name;
        self.claimed_at = found.at;
        self.work = Work::Resolve(protocol.0, protocol.1, Asker::Integrator);
    }

    /// The protocol is told the news; the next command stands in `work`.
    pub fn hears(&mut self, news: News, now: u64) {
        let since = |from: u64| Duration::from_millis(now.saturating_sub(from));
        let (began, arrived) = (since(self.began_at), since(self.order.arrived_at));
        if let News::Refused(rejection) = &news {
            self.rejection = *rejection;
        }
        let claimed_at = self.claimed_at;
        self.learns_fence(&news);
        match &mut self.work {
            Work::Confirm(machine, command) => {
                let event = confirm_event(command, news, began, arrived);
                *command = machine.on(event).expect("the protocol asked for this");
            }
            Work::Resolve(machine, command, _) => {
                if let (ResolveCommand::Claim, News::Recorded(claimed)) = (&*command, &news)
                    && claimed.moved
                {
                    self.claimed_at = claimed.at;
                    self.name = claimed.name;
                }
                let event = resolve_event(command, news, began, claimed_at);
                *command = machine.on(event).expect("the protocol asked for this");
            }
            Work::Finding | Work::Closing(_) => {}
        }
    }

    /// A reserve, a claim and a further send that moved the purchase are its own.
    fn learns_fence(&mut self, news: &News) {
        let is_own = match &self.work {
            Work::Resolve(_, command, _) => matches!(
                command,
                ResolveCommand::Claim | ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_)
            ),
            Work::Confirm(..) | Work::Finding | Work::Closing(_) => false,
        };
        if let News::Reserved(fence) = news {
            self.fence = Some(*fence);
        }
        if let News::Recorded(recorded) = news
            && is_own
            && recorded.moved
        {
            self.fence = Some(recorded.life.fence);
        }
    }

    /// Whether the protocol has come to its end, and with which answer.
    pub fn resolved(&self) -> Option<ResolveAnswer> {
        match &self.work {
            Work::Resolve(_, ResolveCommand::Answer(answer), _) => Some(*answer),
            Work::Resolve(..) | Work::Confirm(..) | Work::Finding | Work::Closing(_) => None,
        }
    }
}

fn confirm_event(
    command: &ConfirmCommand,
    news: News,
    since_reserve: Duration,
    since_arrival: Duration,
) -> ConfirmEvent {
    let is_reserving = *command == ConfirmCommand::Reserve;
    match news {
        News::Reserved(fence) => ConfirmEvent::Reserved { fence, since_reserve, since_arrival },
        News::Refused(_) => ConfirmEvent::ReserveRefused,
        News::NotKept if is_reserving => ConfirmEvent::ReserveNotKept,
        News::Unacknowledged if is_reserving => ConfirmEvent::ReserveUnacknowledged,
        News::Recorded(_) => ConfirmEvent::Recorded,
        News::Answered(outcome) => ConfirmEvent::Answered(outcome),
        News::NotKept | News::Unacknowledged | News::Enquired(_) | News::Turn(_) | News::Found(_) => {
            ConfirmEvent::RecordUnacknowledged
        }
    }
}

fn resolve_event(
    command: &ResolveCommand,
    news: News,
    since_record: Duration,
    asked_at: DateTime<Utc>,
) -> ResolveEvent {
    match (command, news) {
        (ResolveCommand::Claim, News::Recorded(Recorded { life, at, moved: true, .. })) => {
            ResolveEvent::Claimed { life, at }
        }
        (ResolveCommand::Claim, _) => ResolveEvent::NotClaimed,
        (ResolveCommand::TakeTurn(_), News::Turn(true)) => ResolveEvent::MayAsk,
        (ResolveCommand::TakeTurn(_), _) => ResolveEvent::MayNotAsk,
        (_, News::Enquired(enquiry)) => ResolveEvent::Enquired { enquiry, asked_at },
        (_, News::Answered(outcome)) => ResolveEvent::Answered(outcome),
        (ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_), News::Recorded(recorded)) => {
            if recorded.moved {
                ResolveEvent::SendRecorded { fence: recorded.life.fence, since_record }
            } else {
                ResolveEvent::SendRefused
            }
        }
        (ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_), _) => {
            ResolveEvent::SendUnacknowledged
        }
        (_, News::Recorded(Recorded { life, at, .. })) => ResolveEvent::Recorded { life, at },
        (
            _,
            News::Unacknowledged
            | News::NotKept
            | News::Refused(_)
            | News::Reserved(_)
            | News::Turn(_)
            | News::Found(_),
        ) => ResolveEvent::RecordUnacknowledged,
    }
}
