//! A driver in a simulation: a shipped protocol, and the data that is kept between two of its commands. The protocol
//! decides. The driver only translates the results into the inputs of the protocol.

use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Fence, Lifecycle, Resolve, ResolveAnswer, ResolveCommand,
    ResolveInput,
};
use vend::{Enquiry, VendOutcome};

use crate::database::{ConfirmRequest, Recorded, Rejection};

/// One run of a process, from a start to the next crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incarnation {
    pub process: usize,
    pub number: u32,
}

/// The caller that waits for the answer: the nth request of an integrator's intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub intent: usize,
    pub nth: u32,
}

#[derive(Clone, Debug)]
pub enum Work {
    Confirm(Confirm, ConfirmCommand<Rejection>),
    Resolve(Resolve, ResolveCommand, Asker),
    /// A retry looks for its purchase.
    Finding,
    /// The reference is closed before a final answer about this purchase.
    Closing(usize),
}

/// A result that a driver receives.
#[derive(Clone, Debug)]
pub enum News {
    /// The fence, and whether this run made the purchase.
    Reserved(Fence, bool),
    Refused(Rejection),
    /// This run was certainly not committed.
    NotKept,
    Unacknowledged,
    Recorded(Recorded),
    Answered(VendOutcome),
    Enquired(Enquiry),
    /// Whether the turn for an enquiry was taken.
    Turn(bool),
    /// The newest purchase of a key, or one newer than the known one.
    Found(Option<Found>),
}

#[derive(Clone, Debug)]
pub struct Found {
    pub order: ConfirmRequest,
    pub lifecycle: Lifecycle,
    pub at: DateTime<Utc>,
    pub name: u32,
}

#[derive(Clone, Debug)]
pub struct Driver {
    pub incarnation: Incarnation,
    /// Raised by every result. A result that was awaited before is ignored.
    pub turn: u32,
    pub work: Work,
    pub order: ConfirmRequest,
    pub request: Option<Request>,
    /// The time before the reserve, or before the latest send was recorded.
    pub began_at: u64,
    pub claimed_at: DateTime<Utc>,
    /// The fence under which it holds the purchase, as far as it knows.
    pub fence: Option<Fence>,
    /// The reference of the attempt that is sent and asked about.
    pub name: u32,
}

impl Driver {
    pub fn asker(&self) -> Option<Asker> {
        match &self.work {
            Work::Resolve(_, _, asker) => Some(*asker),
            Work::Confirm(..) | Work::Finding | Work::Closing(_) => None,
        }
    }

    /// A retry continues with a purchase that it has found.
    pub fn takes(&mut self, found: &Found, protocol: (Resolve, ResolveCommand)) {
        self.order = found.order;
        self.name = found.name;
        self.claimed_at = found.at;
        self.work = Work::Resolve(protocol.0, protocol.1, Asker::Integrator);
    }

    /// Passes a result to the protocol, and stores the next command in `work`.
    pub fn hears(&mut self, news: News, now: u64) {
        let since = |from: u64| Duration::from_millis(now.saturating_sub(from));
        let (began, arrived) = (since(self.began_at), since(self.order.arrived_at));
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

    /// Takes the fence of its own reserve, claim or further send that moved the purchase.
    fn learns_fence(&mut self, news: &News) {
        let is_own = match &self.work {
            Work::Resolve(_, command, _) => matches!(
                command,
                ResolveCommand::Claim | ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_)
            ),
            Work::Confirm(..) | Work::Finding | Work::Closing(_) => false,
        };
        if let News::Reserved(fence, _) = news {
            self.fence = Some(*fence);
        }
        if let News::Recorded(recorded) = news
            && is_own
            && recorded.moved
        {
            self.fence = Some(recorded.lifecycle.fence);
        }
    }

    /// How long after `began_at` the order may leave, if the protocol's command is to send it.
    pub fn leave_within(&self) -> Option<Duration> {
        match &self.work {
            Work::Confirm(_, ConfirmCommand::Send { leave_within })
            | Work::Resolve(_, ResolveCommand::Send { leave_within }, _) => Some(*leave_within),
            Work::Confirm(..) | Work::Resolve(..) | Work::Finding | Work::Closing(_) => None,
        }
    }

    /// The answer of the protocol, if it has ended.
    pub fn resolved(&self) -> Option<ResolveAnswer> {
        match &self.work {
            Work::Resolve(_, ResolveCommand::Answer(answer), _) => Some(*answer),
            Work::Resolve(..) | Work::Confirm(..) | Work::Finding | Work::Closing(_) => None,
        }
    }
}

fn confirm_event(
    command: &ConfirmCommand<Rejection>,
    news: News,
    since_reserve: Duration,
    since_arrival: Duration,
) -> ConfirmInput<Rejection> {
    let is_reserving = *command == ConfirmCommand::Reserve;
    match news {
        News::Reserved(fence, is_new) => {
            ConfirmInput::Reserved { fence, is_new, since_reserve, since_arrival }
        }
        News::Refused(rejection) => ConfirmInput::ReserveRefused(rejection),
        News::NotKept if is_reserving => ConfirmInput::ReserveNotCommitted(Rejection::Overloaded),
        News::Unacknowledged if is_reserving => ConfirmInput::ReserveUnacknowledged,
        News::Recorded(_) => ConfirmInput::Recorded,
        News::Answered(outcome) => ConfirmInput::Answered(outcome),
        News::NotKept | News::Unacknowledged | News::Enquired(_) | News::Turn(_) | News::Found(_) => {
            ConfirmInput::RecordUnacknowledged
        }
    }
}

fn resolve_event(
    command: &ResolveCommand,
    news: News,
    since_record: Duration,
    asked_at: DateTime<Utc>,
) -> ResolveInput {
    match (command, news) {
        (ResolveCommand::Claim, News::Recorded(Recorded { lifecycle, at, moved: true, .. })) => {
            ResolveInput::Claimed { lifecycle, at }
        }
        (ResolveCommand::Claim, _) => ResolveInput::NotClaimed,
        (ResolveCommand::TakeTurn(_), News::Turn(true)) => ResolveInput::MayAsk,
        (ResolveCommand::TakeTurn(_), _) => ResolveInput::MayNotAsk,
        (_, News::Enquired(enquiry)) => ResolveInput::Enquired { enquiry, asked_at },
        (_, News::Answered(outcome)) => ResolveInput::Answered(outcome),
        (ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_), News::Recorded(recorded)) => {
            if recorded.moved {
                ResolveInput::SendRecorded { fence: recorded.lifecycle.fence, since_record }
            } else {
                ResolveInput::SendRefused
            }
        }
        (ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_), _) => {
            ResolveInput::SendUnacknowledged
        }
        (_, News::Recorded(Recorded { lifecycle, at, .. })) => ResolveInput::Recorded { lifecycle, at },
        (
            _,
            News::Unacknowledged
            | News::NotKept
            | News::Refused(_)
            | News::Reserved(..)
            | News::Turn(_)
            | News::Found(_),
        ) => ResolveInput::RecordUnacknowledged,
    }
}
