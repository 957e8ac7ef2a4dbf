//! All the randomness of a simulation: one number decides everything.

use std::ops::RangeInclusive;

/// `SplitMix64`: small, and the same on every machine and for ever, so that a seed means the same next year.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = range.into_inner();
        low + self.draw() % (high - low + 1)
    }

    /// True with this probability in percent.
    pub fn happens(&mut self, in_a_hundred: u64) -> bool {
        in_a_hundred > 0 && self.draw() % 100 < in_a_hundred
    }

    pub fn happens_rarely(&mut self, in_a_thousand: u64) -> bool {
        in_a_thousand > 0 && self.draw() % 1_000 < in_a_thousand
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let last = u64::try_from(choices.len()).expect("a list is not that long") - 1;
        let place = usize::try_from(self.within(0..=last)).expect("below a length");
        *choices.get(place).expect("below the length")
    }

    /// Mostly zero, otherwise a percentage of this range. A fault that is always on hides the others.
    pub fn sometimes(&mut self, in_a_hundred: RangeInclusive<u64>) -> u64 {
        if self.happens(60) { 0 } else { self.within(in_a_hundred) }
    }
}
