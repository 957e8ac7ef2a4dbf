//! Reads an executed query plan.

/// The pages of the database that a whole statement touched, from `EXPLAIN (ANALYZE, BUFFERS)`. The first line about
/// them is the sum.
///
/// # Panics
/// If the plan does not count them.
pub fn pages_touched(plan: &str) -> u32 {
    let sum = plan.lines().find(|line| line.contains("Buffers:")).expect("an executed plan counts its pages");
    sum.split(['=', ' ']).filter_map(|word| word.parse::<u32>().ok()).sum()
}
