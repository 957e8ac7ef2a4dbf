//! Every right of every login is in a committed file, `docs/rights.table`. The diff of that file shows every
//! change of rights to a reviewer. Every right that is not in it is tried, and refused.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use local_postgres::LocalDatabase;

use crate::installation::{EVERY_LOGIN, Login, env};

const BLESS: &str = "cargo test -p store --test roles -- --ignored bless_the_rights";

/// For each login and table: what it may do to whole rows, and which columns it may read, set or change if
/// not all.
const RIGHTS: &str = "
    SELECT l.login, t.relname, concat_ws(', ',
        (SELECT string_agg(v.verb, ', ' ORDER BY v.n) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE',
             'REFERENCES', 'TRIGGER']) WITH ORDINALITY AS v (verb, n)
         WHERE has_table_privilege(l.login, t.oid, v.verb)),
        (SELECT string_agg(c.told, ', ' ORDER BY c.n) FROM (
             SELECT v.n, v.verb || ' (' || string_agg(a.attname, ' ' ORDER BY a.attname) || ')' AS told
             FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) WITH ORDINALITY AS v (verb, n), pg_attribute a
             WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                 AND NOT has_table_privilege(l.login, t.oid, v.verb) AND has_column_privilege(l.login, t.oid, a.attnum, v.verb)
             GROUP BY v.n, v.verb) AS c))
    FROM unnest(ARRAY['test_server', 'test_worker', 'test_operator', 'test_support', 'test_finance', 'test_administrator', 'test_console']) WITH ORDINALITY AS l (login, n), pg_class t
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p', 'v', 'm', 'f')
    ORDER BY t.relname, l.n";

/// The same for functions that it can call and sequences that it can take numbers from. A token reader's role has nothing else.
const CALLS: &str = "
    SELECT l.login, f.oid::regprocedure::text, 'EXECUTE'
    FROM unnest(ARRAY['test_server', 'test_worker', 'test_operator', 'test_support', 'test_finance', 'test_administrator', 'test_console',
        'vendgate_token_reader']) WITH ORDINALITY AS l (login, n), pg_proc f
    WHERE f.pronamespace = 'public'::regnamespace AND has_function_privilege(l.login, f.oid, 'EXECUTE')
    UNION ALL
    SELECT l.login, s.relname::text, 'USAGE'
    FROM unnest(ARRAY['test_server', 'test_worker', 'test_operator', 'test_support', 'test_finance', 'test_administrator', 'test_console']) AS l (login), pg_class s
    WHERE s.relnamespace = 'public'::regnamespace AND s.relkind = 'S' AND has_sequence_privilege(l.login, s.oid, 'USAGE, UPDATE')
    ORDER BY 2, 1";

#[tokio::test]
async fn the_rights_of_each_login_are_those_of_the_committed_table() {
    let committed = fs::read_to_string(file()).unwrap_or_default();
    let found = table(&env().await.database);
    assert_eq!(
        committed, found,
        "docs/rights.table is not what the database grants. If that is intended: {BLESS}"
    );
}

#[tokio::test]
#[ignore = "writes docs/rights.table: run it by name, and read the diff"]
async fn bless_the_rights() {
    fs::write(file(), table(&env().await.database)).unwrap();
}

#[tokio::test]
async fn what_is_not_granted_is_refused_column_by_column() {
    let env = env().await;
    let columns = env.sql(
        "SELECT relname || ' ' || attname FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
         WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
         ORDER BY 1",
    );
    let mut tried = 0;
    for login in EVERY_LOGIN {
        let connection = Login::of(&env.database, login).await;
        for (table, column) in columns.lines().map(|line| line.split_once(' ').unwrap()) {
            for (verb, attempt) in [
                ("SELECT", format!("SELECT {column} FROM {table}")),
                ("INSERT", format!("INSERT INTO {table} ({column}) VALUES (DEFAULT)")),
                ("UPDATE", format!("UPDATE {table} SET {column} = DEFAULT")),
            ] {
                let granted =
                    format!("SELECT has_column_privilege('{login}', '{table}', '{column}', '{verb}')");
                if connection.runs(&granted).await.unwrap() == [["f"]] {
                    let said = connection.is_refused(&attempt).await;
                    assert!(said.contains("permission denied"), "{login}: {attempt}: {said}");
                    tried += 1;
                }
            }
        }
        for table in columns.lines().map(|line| line.split_once(' ').unwrap().0) {
            for (verb, attempt) in
                [("DELETE", format!("DELETE FROM {table}")), ("TRUNCATE", format!("TRUNCATE {table}"))]
            {
                let granted = format!("SELECT has_table_privilege('{login}', '{table}', '{verb}')");
                if connection.runs(&granted).await.unwrap() == [["f"]] {
                    let said = connection.is_refused(&attempt).await;
                    assert!(said.contains("permission denied"), "{login}: {attempt}: {said}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// The rights on the tables of money, stated again: the committed table could be blessed without a review.
#[tokio::test]
async fn no_login_can_write_a_balance_an_entry_a_posting_or_another_ones_line() {
    let env = env().await;
    for login in EVERY_LOGIN {
        for (verb, column) in [
            ("UPDATE", "accounts.posted"),
            ("UPDATE", "accounts.held"),
            ("INSERT", "journal_entries.id"),
            ("INSERT", "journal_entries.kind"),
            ("INSERT", "postings.amount"),
            ("UPDATE", "purchases.total"),
            ("UPDATE", "purchases.commission"),
            ("UPDATE", "purchases.account_id"),
            ("INSERT", "audit_log.login"),
            ("INSERT", "audit_log.hash"),
            ("INSERT", "audit_log.at"),
            ("UPDATE", "audit_head.hash"),
        ] {
            let (table, column) = column.split_once('.').unwrap();
            let granted = format!("SELECT has_column_privilege('{login}', '{table}', '{column}', '{verb}')");
            assert_eq!(env.sql(&granted), "f", "{login}: {verb} {table}.{column}");
        }
    }
}

fn table(database: &LocalDatabase) -> String {
    let mut text = String::from(
        "What each login of an installation may do. A test reads it off the database (crates/store/tests/roles/rights.rs).\n",
    );
    let mut before = String::new();
    for line in database.run_sql(RIGHTS).unwrap().lines() {
        let (login, rest) = line.split_once('|').unwrap();
        let (table, rights) = rest.split_once('|').unwrap();
        if before != table {
            let _infallible = writeln!(text, "\n{table}");
            table.clone_into(&mut before);
        }
        let rights = if rights.is_empty() { "-" } else { rights };
        let _infallible = writeln!(text, "    {:<9} {rights}", name(login));
    }
    text.push_str("\nFunctions and sequences\n");
    for line in database.run_sql(CALLS).unwrap().lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let _infallible = writeln!(text, "    {:<9} {} {}", name(fields[0]), fields[2], fields[1]);
    }
    text
}

fn name(login: &str) -> &str {
    login.strip_prefix("test_").or_else(|| login.strip_prefix("vendgate_")).unwrap()
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rights.table")
}
