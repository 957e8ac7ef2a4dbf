//! A set of purchases that takes few bytes for each, because their numbers lie close together.

use std::collections::BTreeMap;

/// Numbers of a block.
const BLOCK: i64 = 1 << 12;

/// In each word are 64 numbers.
type Words = [u64; 64];

/// Purchases, by their numbers. A million sales of one day take some 130 kB.
#[derive(Clone, Debug, Default)]
pub(crate) struct PurchaseSet(BTreeMap<i64, Box<Words>>);

impl PurchaseSet {
    /// Whether the purchase is new in it.
    pub(crate) fn insert(&mut self, id: i64) -> bool {
        let (block, word, bit) = place(id);
        let words = self.0.entry(block).or_insert_with(|| Box::new([0; 64]));
        let Some(word) = words.get_mut(word) else { return false };
        let was_there = *word & bit != 0;
        *word |= bit;
        !was_there
    }

    pub(crate) fn contains(&self, id: i64) -> bool {
        let (block, word, bit) = place(id);
        self.0.get(&block).and_then(|words| words.get(word)).is_some_and(|word| word & bit != 0)
    }
}

/// Block, word and bit of a number.
fn place(id: i64) -> (i64, usize, u64) {
    let within = id.rem_euclid(BLOCK);
    let word = usize::try_from(within / 64).unwrap_or_default();
    (id.div_euclid(BLOCK), word, 1 << (within % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purchase_is_in_the_set_after_it_was_put_there_and_no_other_is() {
        let mut set = PurchaseSet::default();
        let put = [1, 63, 64, 4_095, 4_096, 1_000_000_007];
        for id in put {
            assert!(!set.contains(id) && set.insert(id) && !set.insert(id), "{id}");
        }
        for id in [0, 2, 65, 4_094, 4_097, 1_000_000_006] {
            assert!(!set.contains(id), "{id}");
        }
        assert!(put.iter().all(|id| set.contains(*id)));
    }
}
