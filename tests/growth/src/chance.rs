//! Chance that is the same in every run: a number is mixed until it looks random (`SplitMix64`, Steele and others 2014).

/// A random number for each number and purpose.
pub fn mixed(number: u64, purpose: u64) -> u64 {
    let mut mixed =
        number.wrapping_add(purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One of `count` numbers, from 0.
pub fn one_of(count: u64, number: u64, purpose: u64) -> u64 {
    mixed(number, purpose).checked_rem(count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_taken_about_equally_often() {
        let mut taken = [0_u32; 10];
        for number in 0..10_000 {
            taken[usize::try_from(one_of(10, number, 3)).unwrap()] += 1;
        }
        assert!(taken.iter().all(|times| (900..1_100).contains(times)), "{taken:?}");
    }
}
