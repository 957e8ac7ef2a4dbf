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

/// The pages of the database that a whole statement touched, from `EXPLAIN (ANALYZE, BUFFERS)`. The first line about
/// them is the sum.
///
/// # Panics
/// If the plan does not count them.
pub fn pages_touched(plan: &str) -> u32 {
    let sum = plan.lines().find(|line| line.contains("Buffers:")).expect("an executed plan counts its pages");
    sum.split(['=', ' ']).filter_map(|word| word.parse::<u32>().ok()).sum()
}
