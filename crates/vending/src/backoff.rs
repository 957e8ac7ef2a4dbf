//! How long to wait before another try.

use std::time::Duration;

use clock::jittered;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Doubles from one pause to the next, up to two seconds or to the given maximum. Each pause is shortened by up to half,
/// so that those who failed together do not try again together.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
    seed: u64,
}

impl Backoff {
    /// `seed` differs from one caller to the next, for example the number of its purchase.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self::up_to(LONGEST, seed)
    }

    pub(crate) const fn up_to(longest: Duration, seed: u64) -> Self {
        Self { next: FIRST, longest, seed }
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.next_pause()).await;
    }

    pub(crate) fn next_pause(&mut self) -> Duration {
        let pause = jittered(self.next, self.seed);
        self.next = self.next.saturating_mul(2).min(self.longest);
        self.seed = self.seed.wrapping_add(1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_differ_by_seed() {
        let mut one = Backoff::up_to(Duration::from_secs(30), 1);
        let mut other = Backoff::up_to(Duration::from_secs(30), 2);
        let pauses: Vec<(Duration, Duration)> =
            (0..12).map(|_| (one.next_pause(), other.next_pause())).collect();
        let mut whole = FIRST;
        for (pause, _) in &pauses {
            assert!((whole / 2..=whole).contains(pause), "{pause:?} of {whole:?}");
            whole = (whole * 2).min(Duration::from_secs(30));
        }
        assert!(pauses.iter().filter(|(one, other)| one != other).count() > 8, "{pauses:?}");
    }
}
