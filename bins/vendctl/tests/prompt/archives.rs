//! Archives of history in vendctl: written, verified, shown, and removed from the database.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
};

use serde_json::Value;

use crate::office::{TestEnv, run_bare};

/// A file of this test process that does not exist.
fn fresh_file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("vendgate-archive-{}-{name}.jsonl.gz", process::id()));
    let _absent = fs::remove_file(&path);
    path
}

/// A purchase that an operator decided 25 months ago.
fn decided_long_ago(env: &TestEnv) -> String {
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    env.sql(
        "SET session_replication_role = replica;
         UPDATE purchases SET created_at = created_at - interval '25 months', ended_at = ended_at - interval '25 months';
         INSERT INTO provider_replies SELECT id, 1, ended_at, 1, 'a sealed reply' FROM purchases",
    );
    purchase
}

fn refusal(arguments: &[&str]) -> String {
    let outcome = run_bare(arguments);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    outcome.stderr
}

#[test]
fn history_leaves_the_database_for_a_file_that_opens_without_it() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = decided_long_ago(&env);
    let path = fresh_file("leaves");
    let file = path.to_str().unwrap();
    let events: u64 = env.sql("SELECT count(*) FROM purchase_events").parse().unwrap();

    let written = env.does(&["archive", "write", file, "--older-than-months", "24"]);
    assert_eq!((&written["purchases"], &written["purchase_events"]), (&1.into(), &events.into()));
    assert_eq!(env.sql("SELECT count(*) FROM purchase_events"), events.to_string(), "it only reads");
    let again = env.is_refused(&["archive", "write", file, "--older-than-months", "24"]);
    assert!(again.contains("name a file that does not exist"), "{again}");

    let verified: Value =
        serde_json::from_str(&run_bare(&["--json", "archive", "verify", file]).stdout).unwrap();
    assert_eq!(verified["sha256"], written["sha256"]);
    let shown = run_bare(&["--json", "archive", "show", file, "--purchase", &purchase]).stdout;
    let history: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(history["purchase"]["id"].to_string(), purchase);
    assert_eq!(history["purchase_events"].as_array().unwrap().len(), usize::try_from(events).unwrap());
    assert!(history["provider_replies"][0]["sealed_reply"].as_str().unwrap().starts_with("\\x"), "{shown}");
    assert!(!shown.contains("26771234567"), "{shown}");
    let absent = refusal(&["archive", "show", file, "--purchase", "4711"]);
    assert!(absent.contains("the archive does not hold purchase 4711"), "{absent}");

    let removed = env.does(&["archive", "remove", file]);
    assert_eq!(removed["removed"], 1);
    let left = "SELECT (SELECT count(*) FROM purchase_events), (SELECT count(*) FROM provider_replies),
        (SELECT count(*) FROM attempts), (SELECT count(*) FROM journal_entries WHERE kind = 'SETTLE')";
    assert_eq!(env.sql(left), "0|0|1|1");
    assert_eq!(env.does(&["archive", "remove", file])["removed"], 0, "it may be repeated");
    let story = env.shows(&["purchases", "show", &purchase]);
    assert_eq!(story["archive"], path.file_name().unwrap().to_str().unwrap());
    let listed = env.shows(&["archive", "list"]);
    assert_eq!((&listed[0]["purchases"], &listed[0]["sha256"]), (&1.into(), &written["sha256"]));
    let lines =
        env.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE action LIKE 'archive.%'");
    assert_eq!(lines, "archive.written archive.removed");
}

#[test]
fn nothing_is_removed_by_a_damaged_archive_nor_by_one_that_is_out_of_date() {
    let (env, _) = TestEnv::with_a_till();
    decided_long_ago(&env);
    let (path, damaged) = (fresh_file("right"), fresh_file("damaged"));
    let file = path.to_str().unwrap();
    env.does(&["archive", "write", file, "--older-than-months", "24"]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let damaged = damaged.to_str().unwrap();
    assert!(refusal(&["archive", "verify", damaged]).contains("cannot be read"));
    assert!(env.is_refused(&["archive", "remove", damaged]).contains("cannot be read"));

    env.sql(
        "INSERT INTO provider_replies SELECT id, 1, ended_at + interval '1 day', 1, 'another' FROM purchases",
    );
    let said = env.is_refused(&["archive", "remove", file]);
    assert!(said.contains("does not hold what is stored about purchase"), "{said}");
    assert!(said.contains("write a new archive of what is left"), "{said}");
    assert_eq!(env.sql("SELECT count(*) FROM provider_replies"), "2");
    assert_eq!(env.sql("SELECT count(*) FROM archives"), "0");
}
