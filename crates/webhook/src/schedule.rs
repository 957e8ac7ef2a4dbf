//! When a failed message is tried again.

use std::time::Duration;

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The pauses after the first, second, … attempt, in seconds: the example schedule of the Standard Webhooks specification.
const PAUSES: [u64; 9] =
    [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/// How often a message is tried: over three days at least.
pub const ATTEMPTS_MAX: u16 = 10;

/// The longest wait that a receiver can ask for.
const ASKED_MAX: Duration = Duration::from_secs(24 * HOUR);

/// Whether a receiver that answers with this HTTP status has accepted a message, by the Standard Webhooks specification.
pub const fn is_accepted(status: u16) -> bool {
    matches!(status, 200..300)
}

/// How long to wait after this failed attempt, counted from 1. `None` after the last one. The pause of the schedule is
/// lengthened by up to a fifth, as `random` says, so that messages that failed together are not tried again together. If the
/// receiver `asked` for a longer wait (`Retry-After`), it gets it, up to a day.
pub fn next_pause(attempt: u16, random: u64, asked: Option<Duration>) -> Option<Duration> {
    let pause = *PAUSES.get(usize::from(attempt.checked_sub(1)?))?;
    let fifth_ms = pause.saturating_mul(1_000 / 5);
    let added = random % fifth_ms.saturating_add(1);
    let pause = Duration::from_secs(pause).saturating_add(Duration::from_millis(added));
    Some(pause.max(asked.unwrap_or_default().min(ASKED_MAX)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * HOUR);

    fn whole_schedule(random: u64) -> Duration {
        (1..ATTEMPTS_MAX).map(|attempt| next_pause(attempt, random, None).unwrap()).sum()
    }

    #[test]
    fn a_message_is_tried_for_three_days_and_not_for_four() {
        assert_eq!(whole_schedule(0), Duration::from_secs(75 * HOUR + 35 * MINUTE + 5 * SECOND));
        assert_eq!(next_pause(ATTEMPTS_MAX, 0, None), None);
        assert_eq!(next_pause(u16::MAX, 0, Some(DAY)), None);
        assert_eq!(next_pause(0, 0, None), None);
    }

    #[test]
    fn a_receiver_can_ask_for_a_longer_wait_up_to_a_day() {
        let asked = |asked| next_pause(2, 0, Some(asked)).unwrap();
        assert_eq!(asked(Duration::from_secs(HOUR)), Duration::from_secs(HOUR));
        assert_eq!(asked(Duration::from_secs(1)), Duration::from_secs(5 * MINUTE));
        assert_eq!(asked(DAY * 30), DAY);
    }

    proptest! {
        #[test]
        fn a_pause_is_lengthened_by_a_fifth_at_most(attempt in 1..ATTEMPTS_MAX, random: u64) {
            let (shortest, pause) = (next_pause(attempt, 0, None).unwrap(), next_pause(attempt, random, None).unwrap());
            prop_assert!(pause >= shortest && pause <= shortest + shortest / 5);
            prop_assert!(whole_schedule(random) < DAY * 4);
        }
    }
}
