//! A statement of a million vends. It is run by name, because it fabricates a million purchases first:
//! `cargo test -p vendctl --test prompt -- --ignored --nocapture a_million`.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use test_kit::database::OPERATOR;

use crate::{
    office::{TestEnv, WHY},
    shelf::OpenPurchase,
};

const LINES: i64 = 1_000_000;
const TIME_MAX: Duration = Duration::from_mins(2);
/// Without the statement, the program takes some 27,000 kB.
const MEMORY_MAX_KB: u64 = 100_000;

/// Copies a purchase a million times: the sales of a day, one in 86 milliseconds.
fn fabricates_a_day(env: &TestEnv) -> String {
    let id = env.inserts_purchase(&OpenPurchase {
        state: "REVIEW",
        product: "AIRTIME",
        subscriber: "26771400001",
        age: "1 hour",
    });
    let others = env.sql(
        "SELECT string_agg(attname, ', ') FROM pg_attribute
         WHERE attrelid = 'purchases'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attname NOT IN
             ('id', 'reserved_no', 'reference', 'subscriber_identifier', 'provider_reference', 'provider_transaction', 'created_at',
              'ended_at', 'state', 'copies', 'last_sent_at', 'due_at')",
    );
    env.sql(&format!(
        "SET session_replication_role = replica;
         INSERT INTO purchases (id, reference, subscriber_identifier, provider_reference, provider_transaction, created_at, ended_at,
             state, {others})
         SELECT 1000000 + n, 'TOP/' || n, '267' || (71000000 + n), '20261120-' || n, 'R-' || n, at, at + interval '5 seconds',
             'SUCCESSFUL', {others}
         FROM purchases, generate_series(1, {LINES}) n,
             LATERAL (SELECT '2026-11-20T00:00:00Z'::timestamptz + n * interval '86 milliseconds' AS at) t
         WHERE id = {id};
         INSERT INTO attempts SELECT id, 1, provider_code, provider_reference, created_at FROM purchases WHERE id > 1000000;
         ANALYZE purchases, attempts"
    ));
    let lines = env.sql(
        "SELECT concat_ws(',', provider_reference, provider_transaction, to_char(created_at AT TIME ZONE 'UTC',
             'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), product, subscriber_identifier, '100.00', 'BWP')
         FROM purchases WHERE id > 1000000 AND id NOT IN (1400000, 1600000) ORDER BY md5(id::text)",
    );
    let path = std::env::temp_dir().join(format!("vendgate-{}-million.csv", env.database.name()));
    let header = "reference,transaction,time,product,subscriber,amount,currency\n";
    fs::write(&path, format!("{header}{}\n", lines.replacen("100.00", "100.01", 1))).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The most memory that a process has taken so far, in kB.
fn memory_kb(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[test]
#[ignore = "fabricates a million purchases: run it by name, and write its figures into VENDCTL.md"]
#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
fn a_million_lines_take_two_minutes_and_little_memory() {
    let (env, _wallet) = TestEnv::with_a_till();
    let file = fabricates_a_day(&env);
    let began = Instant::now();
    let mut run = Command::new(env!("CARGO_BIN_EXE_vendctl"))
        .env_clear()
        .env("VENDGATE__OPERATOR__DATABASE_URL", env.url_as(OPERATOR))
        .args(["--json", "--actor", "naledi", "reconcile", "BPC", &file])
        .args(["--from", "2026-11-19T00:00:00Z", "--until", "2026-11-22T00:00:00Z"])
        .args(WHY)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut memory = 0;
    while run.try_wait().unwrap().is_none() {
        memory = memory_kb(run.id()).unwrap_or_default().max(memory);
        thread::sleep(Duration::from_millis(50));
    }
    let took = began.elapsed();
    let output = run.wait_with_output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{LINES} lines: {took:?}, {memory} kB");
    let counts = ["lines", "matched", "only_theirs", "different", "only_ours"].map(|name| &found[name]);
    assert_eq!(counts, [&json!(LINES - 2), &json!(LINES - 3), &json!(0), &json!(1), &json!(2)]);
    assert!(took < TIME_MAX && memory < MEMORY_MAX_KB, "{took:?}, {memory} kB");
}
