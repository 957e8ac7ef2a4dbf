//! Query plans: which indexes serve a statement, and how many pages of the database it touches.

use crate::LocalDatabase;

/// A session that plans a statement anew, for its parameters, each time it runs.
pub const CUSTOM_PLANS: &str = "SET plan_cache_mode = force_custom_plan;";
/// A session that plans a statement once, for any parameters.
pub const GENERIC_PLANS: &str = "SET plan_cache_mode = force_generic_plan;";

/// Runs a statement once with these parameters, in a transaction that is rolled back, and returns its executed plan. `session` has the
/// settings of the session that a program runs it in.
///
/// # Panics
/// If the statement fails.
pub fn executed_plan(
    database: &LocalDatabase,
    session: &str,
    types: &str,
    sql: &str,
    values: &str,
) -> String {
    let explained = database.run_sql(&format!(
        "{session} BEGIN; PREPARE explained ({types}) AS {sql};
         EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE explained ({values});
         ROLLBACK; DEALLOCATE explained"
    ));
    explained.expect("the statement fits its parameters")
}

/// The pages of the database that a whole statement touched, from `EXPLAIN (ANALYZE, BUFFERS)`: those that were in
/// memory and those that were read. A page that the statement also had to write out, to make room for another, is no
/// further page. The first line about them is the sum.
///
/// # Panics
/// If the plan does not count them.
pub fn pages_touched(plan: &str) -> u32 {
    let sum = plan.lines().find(|line| line.contains("Buffers:")).expect("an executed plan counts its pages");
    let touched =
        sum.split_whitespace().filter_map(|word| word.strip_prefix("hit=").or(word.strip_prefix("read=")));
    touched.map(|pages| pages.parse::<u32>().expect("a number of pages")).sum()
}

#[cfg(test)]
mod tests {
    use super::pages_touched;

    #[test]
    fn a_page_that_a_statement_reads_and_writes_out_counts_once() {
        let busy = "Sort (actual rows=21 loops=1)\n  Buffers: shared hit=53 read=38 dirtied=4 written=38\n    Buffers: shared hit=1";
        assert_eq!(pages_touched(busy), 91);
        assert_eq!(pages_touched("Result (actual rows=1 loops=1)\n  Buffers: shared hit=4"), 4);
    }
}
