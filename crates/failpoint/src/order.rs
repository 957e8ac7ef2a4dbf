//! What a test wants done, and where.

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

/// What becomes of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It is gone at once, as by `kill -9`.
    Kill,
    /// It stands still until somebody continues it, as by `kill -STOP`.
    Stop,
}

/// One act at one point, written `confirm.before_send:1:kill`: the point, which passing of it, what then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Where.
    pub point: Point,
    /// At which passing of the point, counted from 1.
    pub nth: u32,
    /// What happens.
    pub action: Action,
}

/// What was written is no order.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{written:?} is no order to a failpoint: it should be <point>:<nth>:<kill or stop>")]
pub struct OrderError {
    /// It.
    pub written: String,
}

/// An order, and how often its point must still be passed.
struct Armed {
    order: Order,
    left: AtomicU32,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Longer than a signal that a process sends itself is on its way.
const UNTIL_IT_ARRIVES: Duration = Duration::from_millis(20);

impl Action {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Kill, Self::Stop];

    /// As an order has it.
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

impl FromStr for Order {
    type Err = OrderError;

    fn from_str(written: &str) -> Result<Self, OrderError> {
        let mut parts = written.split(':');
        let parsed = (|| {
            let point = Point::parse(parts.next()?)?;
            let nth = parts.next()?.parse().ok().filter(|nth| *nth > 0)?;
            let action = parts.next()?;
            let action = Action::ALL.into_iter().find(|known| known.name() == action)?;
            parts.next().is_none().then_some(Self { point, nth, action })
        })();
        parsed.ok_or_else(|| OrderError { written: written.to_owned() })
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}:{}", self.point.name(), self.nth, self.action.name())
    }
}

/// Has this process act on an order; the first one counts, for as long as it lives.
pub fn arm(order: Order) {
    let _the_first_counts = ARMED.set(Armed { order, left: AtomicU32::new(order.nth) });
}

pub(crate) fn reached(point: Point) {
    let Some(armed) = ARMED.get().filter(|armed| armed.order.point == point) else { return };
    let counted = armed.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    if counted == Ok(1) {
        act(armed.order.action);
    }
}

/// Does not return before it is done, whichever thread the system hands the signal to.
#[expect(clippy::disallowed_methods, reason = "the whole process is about to stand still anyway")]
fn act(action: Action) {
    if kill_process(getpid(), action.signal()).is_err() {
        process::abort();
    }
    thread::sleep(UNTIL_IT_ARRIVES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_written_as_it_is_read() {
        for point in Point::ALL {
            for action in Action::ALL {
                let order = Order { point: *point, nth: 3, action };
                assert_eq!(order.to_string().parse(), Ok(order));
            }
        }
    }

    #[test]
    fn what_is_no_order_is_refused_with_what_was_written() {
        let point = Point::ConfirmBeforeSend.name();
        for written in ["", point, &format!("{point}:0:kill"), &format!("{point}:1:wound"), "nowhere:1:kill"]
        {
            assert_eq!(written.parse::<Order>(), Err(OrderError { written: written.to_owned() }));
        }
        assert!(format!("{point}:1:kill:now").parse::<Order>().is_err());
    }

    #[test]
    fn a_point_that_nobody_has_an_order_for_is_passed() {
        reached(Point::ConfirmBeforeReserve);
    }
}
