//! The confirm protocol as a machine without I/O: it is told what happened and says what to do next.
//!
//! Reserve, look at the gate, send once, record what came of it. After a lost acknowledgement the same
//! transaction is run again with the same keys; after a lost *reserve* acknowledgement nothing is sent
//! any more, and the hold is given back as never sent.

use std::time::Duration;

use vend::VendOutcome;

use crate::{Fact, Fence, Timing};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmEvent {
    /// The reserve is acknowledged: money is held and the first send is on record.
    Reserved {
        /// The holder's fence.
        fence: Fence,
        /// Monotonic time since before the reserve.
        since_reserve: Duration,
        /// Monotonic time since the request's head arrived.
        since_arrival: Duration,
    },
    /// The reserve was refused by a rule: no run of it was kept, and none ever will be; nothing is held.
    ReserveRefused,
    /// This run of the reserve failed before its commit. An earlier run may have been kept all the same.
    ReserveNotKept,
    /// Nobody knows whether the reserve was committed.
    ReserveUnacknowledged,
    /// The one request is over.
    Answered(VendOutcome),
    /// The outcome is on record, or had no place there any more; the record says how it stands.
    Recorded,
    /// Nobody knows whether the outcome was committed.
    RecordUnacknowledged,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmCommand {
    /// Run the reserve, with the same keys as before if it ran before.
    Reserve,
    /// Send the order, once.
    Send,
    /// Put this on record; again, if it ran before.
    Record(Fact),
    /// It is over: nothing was reserved.
    Refuse,
    /// It is over: answer as the record stands.
    Answer,
}

/// An event that the protocol did not ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protocol did not ask for this event")]
pub struct OutOfTurn;

#[derive(Clone, Debug)]
enum Phase {
    Reserving { acknowledgement_lost: bool },
    Sending(Fence),
    Recording(Fact),
    Over,
}

/// One confirm under way.
#[derive(Clone, Debug)]
pub struct Confirm {
    phase: Phase,
    timing: Timing,
}

impl Confirm {
    /// Begins with the reserve.
    pub const fn begin(timing: Timing) -> (Self, ConfirmCommand) {
        let phase = Phase::Reserving { acknowledgement_lost: false };
        (Self { phase, timing }, ConfirmCommand::Reserve)
    }

    /// What follows from `event`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the event answers no command that was given; the machine stays as it was.
    pub fn on(&mut self, event: ConfirmEvent) -> Result<ConfirmCommand, OutOfTurn> {
        let (phase, command) = match (&self.phase, event) {
            (
                Phase::Reserving { acknowledgement_lost },
                ConfirmEvent::Reserved { fence, since_reserve, since_arrival },
            ) => self.after_reserve(fence, *acknowledgement_lost, since_reserve, since_arrival),
            (Phase::Reserving { .. }, ConfirmEvent::ReserveRefused)
            | (Phase::Reserving { acknowledgement_lost: false }, ConfirmEvent::ReserveNotKept) => {
                (Phase::Over, ConfirmCommand::Refuse)
            }
            (Phase::Reserving { .. }, ConfirmEvent::ReserveUnacknowledged)
            | (Phase::Reserving { acknowledgement_lost: true }, ConfirmEvent::ReserveNotKept) => {
                (Phase::Reserving { acknowledgement_lost: true }, ConfirmCommand::Reserve)
            }
            (Phase::Sending(fence), ConfirmEvent::Answered(outcome)) => {
                record(Fact::reported(outcome, *fence))
            }
            (Phase::Recording(_), ConfirmEvent::Recorded) => (Phase::Over, ConfirmCommand::Answer),
            (Phase::Recording(fact), ConfirmEvent::RecordUnacknowledged) => record(fact.clone()),
            (
                Phase::Reserving { .. } | Phase::Sending(_) | Phase::Recording(_) | Phase::Over,
                ConfirmEvent::Reserved { .. }
                | ConfirmEvent::ReserveRefused
                | ConfirmEvent::ReserveNotKept
                | ConfirmEvent::ReserveUnacknowledged
                | ConfirmEvent::Answered(_)
                | ConfirmEvent::Recorded
                | ConfirmEvent::RecordUnacknowledged,
            ) => return Err(OutOfTurn),
        };
        self.phase = phase;
        Ok(command)
    }

    fn after_reserve(
        &self,
        fence: Fence,
        acknowledgement_lost: bool,
        since_reserve: Duration,
        since_arrival: Duration,
    ) -> (Phase, ConfirmCommand) {
        let gate_is_open = since_reserve <= self.timing.gate && since_arrival <= self.timing.intake;
        if gate_is_open && !acknowledgement_lost {
            (Phase::Sending(fence), ConfirmCommand::Send)
        } else {
            record(Fact::NeverSent { fence })
        }
    }
}

fn record(fact: Fact) -> (Phase, ConfirmCommand) {
    (Phase::Recording(fact.clone()), ConfirmCommand::Record(fact))
}

#[cfg(test)]
mod tests {
    use vend::{Doubt, Refusal, RefusalReason};

    use super::*;
    use crate::Told;

    const FENCE: Fence = Fence(1);

    fn reserved_after(since_reserve: u64, since_arrival: u64) -> ConfirmEvent {
        ConfirmEvent::Reserved {
            fence: FENCE,
            since_reserve: Duration::from_secs(since_reserve),
            since_arrival: Duration::from_secs(since_arrival),
        }
    }

    fn begun() -> Confirm {
        Confirm::begin(Timing::default()).0
    }

    #[test]
    fn an_order_is_sent_once_and_its_outcome_recorded() {
        let mut confirm = begun();
        assert_eq!(confirm.on(reserved_after(1, 2)), Ok(ConfirmCommand::Send));
        let lost = Fact::Lost { fence: FENCE, why: Doubt::TimedOut.into() };
        let timed_out = ConfirmEvent::Answered(VendOutcome::Unknown(Doubt::TimedOut.into()));
        assert_eq!(confirm.on(timed_out.clone()), Ok(ConfirmCommand::Record(lost)));
        assert_eq!(confirm.on(timed_out), Err(OutOfTurn));
        assert_eq!(confirm.on(ConfirmEvent::Recorded), Ok(ConfirmCommand::Answer));
        assert_eq!(confirm.on(reserved_after(1, 1)), Err(OutOfTurn));
    }

    #[test]
    fn behind_a_closed_gate_nothing_is_sent() {
        for late in [reserved_after(6, 6), reserved_after(1, 21)] {
            let never_sent = ConfirmCommand::Record(Fact::NeverSent { fence: FENCE });
            assert_eq!(begun().on(late), Ok(never_sent));
        }
    }

    #[test]
    fn after_a_lost_reserve_acknowledgement_nothing_is_sent() {
        let mut confirm = begun();
        assert_eq!(confirm.on(ConfirmEvent::ReserveUnacknowledged), Ok(ConfirmCommand::Reserve));
        let never_sent = ConfirmCommand::Record(Fact::NeverSent { fence: FENCE });
        assert_eq!(confirm.on(reserved_after(0, 0)), Ok(never_sent));
    }

    #[test]
    fn a_failed_run_ends_it_only_if_no_earlier_run_may_have_been_kept() {
        assert_eq!(begun().on(ConfirmEvent::ReserveNotKept), Ok(ConfirmCommand::Refuse));
        let mut confirm = begun();
        confirm.on(ConfirmEvent::ReserveUnacknowledged).unwrap();
        assert_eq!(confirm.on(ConfirmEvent::ReserveNotKept), Ok(ConfirmCommand::Reserve));
        assert_eq!(confirm.on(ConfirmEvent::ReserveRefused), Ok(ConfirmCommand::Refuse));
    }

    #[test]
    fn a_lost_record_acknowledgement_runs_the_same_record_again() {
        let mut confirm = begun();
        confirm.on(reserved_after(0, 0)).unwrap();
        let refusal = Refusal::because(RefusalReason::Blocked);
        let told = Told::InAnswer;
        let refused = ConfirmCommand::Record(Fact::Refused { fence: FENCE, refusal: refusal.clone(), told });
        let answered = ConfirmEvent::Answered(VendOutcome::Refused(refusal));
        assert_eq!(confirm.on(answered), Ok(refused.clone()));
        assert_eq!(confirm.on(ConfirmEvent::RecordUnacknowledged), Ok(refused));
    }

    #[test]
    fn a_refused_reserve_ends_it() {
        assert_eq!(begun().on(ConfirmEvent::ReserveRefused), Ok(ConfirmCommand::Refuse));
    }
}
