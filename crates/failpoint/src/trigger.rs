//! A trigger: what a test does to the process, and at which point.

use std::{
    process,
    str::FromStr,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::process::{Signal, getpid, kill_process};

use crate::Point;

/// What happens to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The process dies at once, as by `kill -9`.
    Kill,
    /// The process stops until another process continues it, as by `kill -STOP`.
    Stop,
}

/// One action at one point, written `confirm.before_send:1:kill`: the point, the number of the hit, the
/// action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The point.
    pub point: Point,
    /// At which hit of the point, counted from 1.
    pub nth: u32,
    /// The action.
    pub action: Action,
}

/// The text is not a trigger.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{written:?} is not a trigger of a failpoint: it should be <point>:<nth>:<kill or stop>")]
pub struct TriggerError {
    /// The text.
    pub written: String,
}

/// A trigger, and how many hits of its point are left.
struct Armed {
    trigger: Trigger,
    left: AtomicU32,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Longer than a signal takes that a process sends to itself.
const SIGNAL_DELIVERY: Duration = Duration::from_millis(20);

impl Action {
    /// Both actions.
    pub const ALL: [Self; 2] = [Self::Kill, Self::Stop];

    /// The name of the action in a trigger.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
        }
    }

    const fn signal(self) -> Signal {
        match self {
            Self::Kill => Signal::KILL,
            Self::Stop => Signal::STOP,
        }
    }
}

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(written: &str) -> Result<Self, TriggerError> {
        let mut parts = written.split(':');
        let parsed = (|| {
            let point = Point::parse(parts.next()?)?;
            let nth = parts.next()?.parse().ok().filter(|nth| *nth > 0)?;
            let action = parts.next()?;
            let action = Action::ALL.into_iter().find(|known| known.name() == action)?;
            parts.next().is_none().then_some(Self { point, nth, action })
        })();
        parsed.ok_or_else(|| TriggerError { written: written.to_owned() })
    }
}

impl std::fmt::Display for Trigger {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}:{}", self.point.name(), self.nth, self.action.name())
    }
}

/// Arms a trigger in this process. Only the first call has an effect.
pub fn arm(trigger: Trigger) {
    let _the_first_counts = ARMED.set(Armed { trigger, left: AtomicU32::new(trigger.nth) });
}

pub(crate) fn hit(point: Point) {
    let Some(armed) = ARMED.get().filter(|armed| armed.trigger.point == point) else { return };
    let counted = armed.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    if counted == Ok(1) {
        act(armed.trigger.action);
    }
}

/// Returns only after the signal has taken effect, on whichever thread the system delivers it.
#[expect(clippy::disallowed_methods, reason = "the whole process is about to stop anyway")]
fn act(action: Action) {
    if kill_process(getpid(), action.signal()).is_err() {
        process::abort();
    }
    thread::sleep(SIGNAL_DELIVERY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_written_as_it_is_read() {
        for point in Point::ALL {
            for action in Action::ALL {
                let trigger = Trigger { point: *point, nth: 3, action };
                assert_eq!(trigger.to_string().parse(), Ok(trigger));
            }
        }
    }

    #[test]
    fn a_malformed_trigger_is_refused_and_the_error_contains_its_text() {
        let point = Point::ConfirmBeforeSend.name();
        for written in ["", point, &format!("{point}:0:kill"), &format!("{point}:1:wound"), "nowhere:1:kill"]
        {
            assert_eq!(written.parse::<Trigger>(), Err(TriggerError { written: written.to_owned() }));
        }
        assert!(format!("{point}:1:kill:now").parse::<Trigger>().is_err());
    }

    #[test]
    fn a_point_without_a_trigger_is_passed() {
        hit(Point::ConfirmBeforeReserve);
    }
}
