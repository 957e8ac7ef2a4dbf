//! Machines whose clocks are apart. The database's clock decides about leases, windows and rest.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use acceptance::{
    checker::{Moment, assert_sound},
    fault_injection::{Behaviour, now},
    tills::{self, Tills},
};
use chrono::DateTime;
use local_postgres::apt;

use crate::env::{start_env, turn};

/// Doubt that only time ends: an order that is late, lost, or denied at first.
const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::Ordinary,
    Behaviour::LooksLate,
    Behaviour::LostRequest,
    Behaviour::MissingThenPresent,
    Behaviour::Delayed,
];
const SELLS_FOR: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_mins(1);
/// Longer than leases and pauses, and less than what the checker allows for the time in an error of the Current surface.
const SHIFT_S: i64 = 45;

/// The times that decide about money, as they were stored.
const STORED: &str = "SELECT min(at) >= '{began}' AND max(at) <= clock_timestamp() FROM (
    SELECT at FROM purchase_history
    UNION ALL SELECT created_at FROM purchases
    UNION ALL SELECT last_sent_at FROM purchases
    UNION ALL SELECT ended_at FROM purchases
    UNION ALL SELECT started_at FROM attempts
    UNION ALL SELECT posted_at FROM journal_entries WHERE purchase_id IS NOT NULL) AS stored (at)";

/// The library that shifts the clock of a program. Debian's package is installed if it is missing.
fn faketime() -> PathBuf {
    let find = || {
        let libraries = fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
        libraries.map(|directory| directory.join("faketime/libfaketime.so.1")).find(|file| file.is_file())
    };
    find().unwrap_or_else(|| {
        assert!(apt::can_install(), "there is no libfaketime: install it");
        apt::install("libfaketime").unwrap();
        find().expect("the package has the library")
    })
}

/// How far the clock of this server is ahead, in seconds.
async fn ahead_s(url: &str) -> i64 {
    let answer = reqwest::get(format!("{url}/public/v1/products")).await.unwrap();
    let date = answer.headers()["date"].to_str().unwrap().to_owned();
    DateTime::parse_from_rfc2822(&date).unwrap().timestamp() - now() / 1_000_000
}

#[test]
fn servers_and_workers_whose_clocks_are_apart_do_no_harm() {
    let _turn = turn();
    let env = Arc::new(start_env("clocks"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    env.worker(false);
    let (library, ahead, behind) = (faketime(), format!("+{SHIFT_S}s"), format!("-{SHIFT_S}s"));
    let clock = |shift| {
        [
            ("LD_PRELOAD", library.to_str().unwrap()),
            ("FAKETIME", shift),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ]
    };
    let server =
        |name, shift| env.sandbox.another_api_server(&env.programs.api_server, name, &clock(shift)).unwrap();
    let worker = |name, shift| {
        env.sandbox.another_retry_worker(&env.programs.retry_worker, name, &clock(shift)).unwrap()
    };
    let servers = [server("server-ahead", &ahead), server("server-behind", &behind)];
    let _workers = [worker("worker-ahead", &ahead), worker("worker-behind", &behind)];
    let urls = servers.each_ref().map(|server| server.url().to_owned());
    for (url, expected) in urls.iter().zip([SHIFT_S, -SHIFT_S]) {
        let found = runtime.block_on(ahead_s(url));
        assert!((found - expected).abs() <= 2, "{url} is ahead by {found} s");
    }

    let began = env.asks("SELECT clock_timestamp()");
    let tills = Tills::open(runtime.handle(), &env, &urls, 6, BEHAVIOURS, "clock");
    runtime.block_on(async {
        tills::go_on(&env, SELLS_FOR, PATIENCE).await.unwrap();
        tills.close(&urls[0]).await.unwrap();
        env.comes_to_rest().await;
    });
    assert_sound(&env.evidence(Moment::AtRest));
    assert_eq!(env.asks(&STORED.replace("{began}", &began)), "t", "a time was not the database's");
    let ended = env.asks("SELECT count(*) FROM purchases WHERE state = 'SUCCESSFUL'");
    assert!(ended.parse::<usize>().unwrap() > 10, "{ended} purchases were successful");
    env.worker(true);
}
