//! Query plans of what reads a wallet between two entries, in a long history: it reads what lies between them, and not what the wallet
//! did since.

use database::Purpose;
use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan, pages_touched};
use test_kit::database::migrated;

/// A busy wallet (3) and its commission (4), and idle wallets. Between entries 20,000 and 20,020 each wallet has a day.
const HISTORY: &str = include_str!("history.sql");

const SESSIONS: [&str; 3] = [Purpose::Requests.session(), CUSTOM_PLANS, GENERIC_PLANS];

#[test]
fn a_day_of_a_wallet_is_read_without_the_days_after_it() {
    let database = migrated();
    database.run_sql(HISTORY).unwrap();
    let (page, movements) =
        ("bigint, bigint, bigint, bigint, bigint, bigint", include_str!("../sql/list_movements.sql"));
    let sales = include_str!("../sql/sum_sales.sql");
    let days = "'{2026-01-01,2026-01-01}', '{3,5}', '{20000,0}', '{20020,0}'";
    let stretch = "SELECT * FROM stretch_of_postings($1, $2, $3, $4)";
    for (sql, types, values, lines) in [
        // A page for a hundred lines is not full.
        (movements, page, "3, 20000, 9223372036854775807, 20020, 100, 4", 40),
        (movements, page, "5, 0, 9223372036854775807, 200000, 100, 4", 0),
        (sales, "date[], bigint[], bigint[], bigint[]", days, 20),
        (stretch, "bigint, bigint, bigint, bigint", "3, 20000, 20020, 1000", 40),
        // Without an end, because there is no cut-off.
        (stretch, "bigint, bigint, bigint, bigint", "3, 20000, NULL, 1000", 0),
    ] {
        for session in SESSIONS {
            let plan = executed_plan(&database, session, types, sql, values);
            let touched = pages_touched(&plan);
            assert!(touched <= 500, "{session}: {touched} pages\n{sql}\n{plan}");
            assert!(plan.contains(&format!("rows={lines} ")), "{lines} lines\n{plan}");
        }
    }
}
