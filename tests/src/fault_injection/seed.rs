//! Random choices that can be repeated: the same seed makes the same choices.

/// A small generator (splitmix64). It is good enough for test choices and for nothing else.
#[derive(Clone, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The seed from `VENDGATE_SEED`, otherwise one from the clock. It is printed with the name of what it is for, so that a failure
    /// can be repeated.
    #[expect(clippy::print_stdout, reason = "a person who repeats a run needs its seed")]
    pub fn given_or_new(of: &str) -> Self {
        let given = setting("VENDGATE_SEED").and_then(|text| text.parse().ok());
        let seed = Self(given.unwrap_or_else(|| super::now().unsigned_abs()));
        println!("{of}: VENDGATE_SEED={}", seed.0);
        seed
    }

    /// The seed with this number.
    pub const fn of(number: u64) -> Self {
        Self(number)
    }

    /// The number that makes the same choices again.
    pub const fn number(&self) -> u64 {
        self.0
    }

    /// Chooses one of the things.
    pub fn choose<T: Copy>(&mut self, things: &[T]) -> T {
        let count = u64::try_from(things.len()).unwrap();
        let index = usize::try_from(self.next() % count).unwrap();
        *things.get(index).unwrap()
    }

    /// Shuffles the things.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = usize::try_from(self.next() % u64::try_from(last + 1).unwrap()).unwrap();
            things.swap(last, other);
        }
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The number of rounds from `VENDGATE_SWEEP`, otherwise `usual`, which is small enough for every test run.
pub fn rounds(usual: usize) -> usize {
    setting("VENDGATE_SWEEP").and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[expect(clippy::disallowed_methods, reason = "the intensity of a test is not a setting of the service")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
