//! Pauses that differ from one caller to the next.

use std::time::Duration;

/// A pause between half of `longest` and all of it, chosen by `seed`. Callers with different seeds that
/// failed at the same moment do not all come back at the same moment.
///
/// ```
/// use std::time::Duration;
///
/// let pause = clock::jittered(Duration::from_secs(30), 1201);
/// assert!(pause >= Duration::from_secs(15) && pause <= Duration::from_secs(30));
/// ```
pub fn jittered(longest: Duration, seed: u64) -> Duration {
    let half = longest / 2;
    let [chosen, ..] = mixed(seed).to_le_bytes();
    half.saturating_add((half / u32::from(u8::MAX)).saturating_mul(u32::from(chosen)))
}

/// The output function of `SplitMix64` (Steele, Lea, Flood 2014): neighbouring seeds have unrelated results.
const fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn neighbouring_seeds_are_spread_over_the_second_half() {
        let mut pauses: Vec<Duration> = (0..1_000).map(|seed| jittered(LONGEST, seed)).collect();
        pauses.sort();
        assert!(pauses.iter().all(|pause| (LONGEST / 2..=LONGEST).contains(pause)));
        let early = pauses.iter().filter(|pause| **pause < LONGEST * 3 / 4).count();
        assert!((450..550).contains(&early), "{early} of 1000 in the first half of the range");
        pauses.dedup();
        assert!(pauses.len() > 200, "only {} different pauses", pauses.len());
    }

    #[test]
    fn the_longest_durations_do_not_overflow() {
        assert!(jittered(Duration::MAX, u64::MAX) >= Duration::MAX / 2);
        assert_eq!(jittered(Duration::ZERO, 7), Duration::ZERO);
    }
}
