//! The machine's clock, in microseconds, as the recorded exchanges have it.

use std::time::Duration;

use crate::fault_injection::now;

/// A moment by which something must have happened.
pub struct Deadline(i64);

impl Deadline {
    /// The moment this long from now.
    pub fn after(wait: Duration) -> Self {
        Self(now().saturating_add(micros(wait)))
    }

    /// Whether the moment has passed.
    pub fn is_over(&self) -> bool {
        now() > self.0
    }
}

/// The length in microseconds.
pub fn micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

/// Waits between two questions.
pub async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

/// The longest time between two of these moments, from `began` to `ended`, and the moment at which it was over. Moments
/// before `began` do not count.
pub fn longest_gap(moments: &[i64], began: i64, ended: i64) -> (i64, i64) {
    let mut sorted: Vec<i64> = moments.iter().copied().filter(|at| (began..ended).contains(at)).collect();
    sorted.sort_unstable();
    let (from, to) =
        ([began].into_iter().chain(sorted.iter().copied()), sorted.iter().copied().chain([ended]));
    from.zip(to).map(|(from, to)| (to.saturating_sub(from), to)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_is_between_two_moments_or_at_an_end() {
        assert_eq!(longest_gap(&[5, 12, 40, 41], 10, 50), (28, 40));
        assert_eq!(longest_gap(&[11, 12], 10, 50), (38, 50));
        assert_eq!(longest_gap(&[], 10, 50), (40, 50));
    }
}
