//! The confirm protocol as a state machine without I/O: it takes an input and returns the next command.

use std::{fmt, time::Duration};

use vend::VendOutcome;

use crate::{Event, Fence, Timing};

/// The result of a command. `Reason` is why nothing was reserved, as the caller words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmInput<Reason = ()> {
    /// The reserve is acknowledged: the money is held and the first send is recorded. Both times are measured at one
    /// moment, by a clock that goes on while the process is suspended.
    Reserved {
        /// The holder's fence.
        fence: Fence,
        /// Whether this run of the reserve made the purchase: [`Reserved::is_new`](crate::Reserved::is_new).
        is_new: bool,
        /// Monotonic time since before the reserve.
        since_reserve: Duration,
        /// Monotonic time since the arrival of the request. The arrival is the earlier of two moments: its last byte
        /// reached the kernel, or its head was read.
        since_arrival: Duration,
    },
    /// The reserve was refused by a rule. No run of it was committed, and none ever will be. Nothing is held.
    ReserveRefused(Reason),
    /// This run of the reserve failed before its commit. An earlier run may have been committed all the same.
    ReserveNotCommitted(Reason),
    /// It is unknown whether the reserve was committed.
    ReserveUnacknowledged,
    /// The one request to the provider is over.
    Answered(VendOutcome),
    /// The outcome is recorded, or the purchase did not accept it any more. The record has the current state.
    Recorded,
    /// It is unknown whether the outcome was committed.
    RecordUnacknowledged,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmCommand<Reason = ()> {
    /// Run the reserve, with the same keys as before if it ran before.
    Reserve,
    /// Send the order, once, if its first byte leaves in time.
    Send {
        /// The gate, counted from before the reserve, as `since_reserve` is. So it is no later for a process that was
        /// suspended after it had measured. The sender checks it at the last possible moment. If it is over, nothing
        /// leaves, and the outcome is a refusal with the reason [`NeverSent`](vend::RefusalReason::NeverSent).
        leave_within: Duration,
    },
    /// Record this event, also if the same record ran before.
    Record(Event),
    /// The confirm is over: nothing was reserved, for this reason.
    Refuse(Reason),
    /// The confirm is over: answer with the state of the record.
    Answer,
}

/// An input that the protocol did not ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protocol is {phase}, and did not ask for {input}")]
#[non_exhaustive]
pub struct OutOfTurn {
    /// What the protocol waits for, such as `reserving` or `over`.
    pub phase: &'static str,
    /// The name of the input, such as `Answered`.
    pub input: &'static str,
}

#[derive(Clone, Debug)]
enum Phase {
    Reserving { acknowledgement_lost: bool },
    Sending(Fence),
    Recording(Event),
    Over,
}

impl Phase {
    const fn name(&self) -> &'static str {
        match self {
            Self::Reserving { .. } => "reserving",
            Self::Sending(_) => "sending",
            Self::Recording(_) => "recording",
            Self::Over => "over",
        }
    }
}

impl<Reason> ConfirmInput<Reason> {
    /// The name of the variant.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reserved { .. } => "Reserved",
            Self::ReserveRefused(_) => "ReserveRefused",
            Self::ReserveNotCommitted(_) => "ReserveNotCommitted",
            Self::ReserveUnacknowledged => "ReserveUnacknowledged",
            Self::Answered(_) => "Answered",
            Self::Recorded => "Recorded",
            Self::RecordUnacknowledged => "RecordUnacknowledged",
        }
    }
}

/// One confirm in progress.
///
/// It reserves, checks the gate, sends once and records the outcome:
///
/// | Command | Input that may follow | Next command |
/// |---|---|---|
/// | `Reserve` | `Reserved`, and no acknowledgement was lost: new, and within both limits of the gate | `Send`, with the rest of the gate |
/// | | new, and too late | `Record`: never sent |
/// | | not new | `Answer`: another confirm made it |
/// | | `Reserved`, and an acknowledgement was lost | `Record`: never sent |
/// | | `ReserveRefused` | `Refuse` |
/// | | `ReserveNotCommitted` | `Refuse`, or `Reserve` again if an acknowledgement was lost |
/// | | `ReserveUnacknowledged` | `Reserve` again |
/// | `Send` | `Answered` | `Record`: the outcome |
/// | `Record` | `Recorded` | `Answer` |
/// | | `RecordUnacknowledged` | `Record` again: the same event |
/// | `Refuse`, `Answer` | none | none: the confirm is over |
///
/// After a lost acknowledgement the same transaction is run again with the same keys. After a lost *reserve*
/// acknowledgement this confirm sends nothing any more: the order is recorded as never sent. On a self-managed account its
/// hold is released; on a managed account the hold stays for another attempt. The reason: the second run shows only how the
/// reserve left the purchase. It does not show whether another process has claimed the purchase since. An order that is
/// sent now may be one that was settled already.
///
/// **One reservation is sent by one confirm.** A purchase that is not new, although no acknowledgement was lost, was made by another
/// confirm of the same reservation, which may have sent the order. So this one sends nothing and changes nothing: it answers with the
/// record, and if that is open, a retry tells more.
///
/// After a lost acknowledgement the machine cannot tell a purchase that its own first run made from one of another confirm. So give
/// each confirm a number of its own, or look first whether the number has a purchase.
#[derive(Clone)]
pub struct Confirm {
    phase: Phase,
    timing: Timing,
}

/// Omits the timing: it is a setting, and the same for every confirm.
impl fmt::Debug for Confirm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, timing: _ } = self;
        out.debug_struct("Confirm").field("phase", phase).finish_non_exhaustive()
    }
}

impl Confirm {
    /// Begins with the reserve.
    pub const fn begin<Reason>(timing: Timing) -> (Self, ConfirmCommand<Reason>) {
        let phase = Phase::Reserving { acknowledgement_lost: false };
        (Self { phase, timing }, ConfirmCommand::Reserve)
    }

    /// The command that follows from `input`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when `input` does not answer the last command. The machine is unchanged.
    pub fn on<Reason>(&mut self, input: ConfirmInput<Reason>) -> Result<ConfirmCommand<Reason>, OutOfTurn> {
        let (phase, command) = match (&self.phase, input) {
            (
                Phase::Reserving { acknowledgement_lost: false },
                ConfirmInput::Reserved { is_new: false, .. },
            )
            | (Phase::Recording(_), ConfirmInput::Recorded) => (Phase::Over, ConfirmCommand::Answer),
            (
                Phase::Reserving { acknowledgement_lost },
                ConfirmInput::Reserved { fence, is_new: _, since_reserve, since_arrival },
            ) => self.after_reserve(fence, *acknowledgement_lost, since_reserve, since_arrival),
            (Phase::Reserving { .. }, ConfirmInput::ReserveRefused(reason))
            | (Phase::Reserving { acknowledgement_lost: false }, ConfirmInput::ReserveNotCommitted(reason)) => {
                (Phase::Over, ConfirmCommand::Refuse(reason))
            }
            (Phase::Reserving { .. }, ConfirmInput::ReserveUnacknowledged)
            | (Phase::Reserving { acknowledgement_lost: true }, ConfirmInput::ReserveNotCommitted(_)) => {
                (Phase::Reserving { acknowledgement_lost: true }, ConfirmCommand::Reserve)
            }
            (Phase::Sending(fence), ConfirmInput::Answered(outcome)) => {
                record(Event::reported(outcome, *fence))
            }
            (Phase::Recording(event), ConfirmInput::RecordUnacknowledged) => record(event.clone()),
            (
                phase @ (Phase::Reserving { .. } | Phase::Sending(_) | Phase::Recording(_) | Phase::Over),
                input @ (ConfirmInput::Reserved { .. }
                | ConfirmInput::ReserveRefused(_)
                | ConfirmInput::ReserveNotCommitted(_)
                | ConfirmInput::ReserveUnacknowledged
                | ConfirmInput::Answered(_)
                | ConfirmInput::Recorded
                | ConfirmInput::RecordUnacknowledged),
            ) => return Err(OutOfTurn { phase: phase.name(), input: input.name() }),
        };
        self.phase = phase;
        Ok(command)
    }

    /// The first gate. The second one is checked when the first byte of the order is about to be sent.
    fn after_reserve<Reason>(
        &self,
        fence: Fence,
        acknowledgement_lost: bool,
        since_reserve: Duration,
        since_arrival: Duration,
    ) -> (Phase, ConfirmCommand<Reason>) {
        let Timing { gate, intake, .. } = self.timing;
        let gate_is_open = since_reserve <= gate && since_arrival <= intake;
        if gate_is_open && !acknowledgement_lost {
            // The request arrived before the reserve began, so its limit is nearer by that time.
            let until_intake = intake.saturating_sub(since_arrival).saturating_add(since_reserve);
            (Phase::Sending(fence), ConfirmCommand::Send { leave_within: gate.min(until_intake) })
        } else {
            record(Event::NeverSent { fence })
        }
    }
}

fn record<Reason>(event: Event) -> (Phase, ConfirmCommand<Reason>) {
    (Phase::Recording(event.clone()), ConfirmCommand::Record(event))
}

#[cfg(test)]
mod tests {
    use vend::{Doubt, Refusal, RefusalReason};

    use super::*;
    use crate::RefusalSource;

    const FENCE: Fence = Fence(1);

    fn reserved_after(since_reserve: u64, since_arrival: u64) -> ConfirmInput {
        ConfirmInput::Reserved {
            fence: FENCE,
            is_new: true,
            since_reserve: Duration::from_secs(since_reserve),
            since_arrival: Duration::from_secs(since_arrival),
        }
    }

    /// In time, and an earlier run made it.
    fn found_again() -> ConfirmInput {
        ConfirmInput::Reserved {
            fence: FENCE,
            is_new: false,
            since_reserve: Duration::ZERO,
            since_arrival: Duration::ZERO,
        }
    }

    fn begun() -> Confirm {
        Confirm::begin::<&str>(Timing::default()).0
    }

    #[test]
    fn an_order_is_sent_once_and_its_outcome_recorded() {
        let mut confirm = begun();
        assert!(matches!(confirm.on(reserved_after(1, 2)), Ok(ConfirmCommand::Send { .. })));
        let lost = Event::Lost { fence: FENCE, why: Doubt::TimedOut.into() };
        let timed_out = ConfirmInput::<()>::Answered(VendOutcome::Unknown(Doubt::TimedOut.into()));
        assert_eq!(confirm.on(timed_out.clone()), Ok(ConfirmCommand::Record(lost)));
        assert_eq!(confirm.on(timed_out), Err(OutOfTurn { phase: "recording", input: "Answered" }));
        assert_eq!(confirm.on(ConfirmInput::<()>::Recorded), Ok(ConfirmCommand::Answer));
        let late = confirm.on(reserved_after(1, 1)).unwrap_err();
        assert_eq!(late.to_string(), "the protocol is over, and did not ask for Reserved");
    }

    #[test]
    fn an_order_leaves_within_the_nearer_of_the_two_limits_of_the_gate() {
        let (gate, intake) = (Timing::default().gate, Timing::default().intake);
        let moment = Duration::from_millis(300);
        for (before_reserve, leave_within) in [
            (Duration::ZERO, gate),
            (intake.saturating_sub(gate), gate),
            (intake.saturating_sub(moment), moment),
            // At the last moment of the intake.
            (intake.saturating_sub(moment / 2), moment / 2),
        ] {
            let since_reserve = moment / 2;
            let reserved = ConfirmInput::<()>::Reserved {
                fence: FENCE,
                is_new: true,
                since_reserve,
                since_arrival: before_reserve + since_reserve,
            };
            assert_eq!(begun().on(reserved), Ok(ConfirmCommand::Send { leave_within }));
        }
    }

    #[test]
    fn behind_a_closed_gate_nothing_is_sent() {
        for late in [reserved_after(6, 6), reserved_after(1, 21)] {
            let never_sent = ConfirmCommand::Record(Event::NeverSent { fence: FENCE });
            assert_eq!(begun().on(late), Ok(never_sent));
        }
    }

    #[test]
    fn after_a_lost_reserve_acknowledgement_nothing_is_sent() {
        let mut confirm = begun();
        assert_eq!(confirm.on(ConfirmInput::<&str>::ReserveUnacknowledged), Ok(ConfirmCommand::Reserve));
        let mut not_kept = confirm.clone();
        let never_sent = ConfirmCommand::Record(Event::NeverSent { fence: FENCE });
        assert_eq!(confirm.on(found_again()), Ok(never_sent.clone()));
        assert_eq!(not_kept.on(reserved_after(0, 0)), Ok(never_sent));
    }

    #[test]
    fn a_second_confirm_of_a_reservation_sends_and_records_nothing() {
        let mut second = begun();
        assert_eq!(second.on(found_again()), Ok(ConfirmCommand::Answer));
        assert!(second.on(ConfirmInput::<()>::Recorded).is_err(), "it is over");
    }

    #[test]
    fn a_failed_run_ends_it_only_if_no_earlier_run_may_have_been_kept() {
        assert_eq!(begun().on(ConfirmInput::ReserveNotCommitted("busy")), Ok(ConfirmCommand::Refuse("busy")));
        let mut confirm = begun();
        confirm.on(ConfirmInput::<&str>::ReserveUnacknowledged).unwrap();
        assert_eq!(confirm.on(ConfirmInput::ReserveNotCommitted("busy")), Ok(ConfirmCommand::Reserve));
        assert_eq!(
            confirm.on(ConfirmInput::ReserveRefused("too late")),
            Ok(ConfirmCommand::Refuse("too late"))
        );
    }

    #[test]
    fn a_lost_record_acknowledgement_runs_the_same_record_again() {
        let mut confirm = begun();
        confirm.on(reserved_after(0, 0)).unwrap();
        let refusal = Refusal::because(RefusalReason::Blocked);
        let source = RefusalSource::Answer;
        let refused =
            ConfirmCommand::<()>::Record(Event::Refused { fence: FENCE, refusal: refusal.clone(), source });
        let answered = ConfirmInput::Answered(VendOutcome::Refused(refusal));
        assert_eq!(confirm.on(answered), Ok(refused.clone()));
        assert_eq!(confirm.on(ConfirmInput::RecordUnacknowledged), Ok(refused));
    }

    #[test]
    fn a_refused_reserve_ends_it() {
        assert_eq!(
            begun().on(ConfirmInput::ReserveRefused("too late")),
            Ok(ConfirmCommand::Refuse("too late"))
        );
    }
}
