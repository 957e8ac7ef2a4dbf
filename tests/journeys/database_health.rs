//! The gauges of the database move when its archive fails and when a receiver of its log lags: the alerts about them would fire. A
//! Postgres of its own, because it is restarted with an archive.

use std::{
    fs,
    process::{Child, Command},
};

use rustix::process::{Pid, Signal as Sent, kill_process};
use sandbox::{Options, Process, Sandbox};
use tokio::runtime::Runtime;

use crate::{
    env::{directory, eventually, programs},
    observed::numbers::Numbers,
};

/// More than a mebibyte of the log.
const WRITES: &str = "CREATE TABLE written AS SELECT repeat(md5(n::text), 8) AS text FROM generate_series(1, 40000) n; DROP TABLE written";

/// Receives the log as a standby does, without a second server.
struct Receiver(Child);

impl Receiver {
    fn of(sandbox: &Sandbox) -> Self {
        let to = directory().join("received");
        fs::create_dir_all(&to).unwrap();
        let program = local_postgres::programs().unwrap().join("pg_receivewal");
        let url = sandbox.postgres().unwrap().superuser_url();
        let receives = Command::new(program)
            .arg("--directory")
            .arg(to)
            .args(["--synchronous", "--status-interval=1", "--dbname", &url])
            .spawn();
        Self(receives.unwrap())
    }

    fn signal(&self, signal: Sent) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn asks(sandbox: &Sandbox, sql: &str) -> String {
    sandbox.database().run_sql(sql).unwrap()
}

/// Restarts the database with an archive that accepts nothing.
async fn archives_to_nowhere(sandbox: &mut Sandbox) {
    asks(sandbox, "ALTER SYSTEM SET archive_mode = 'on'");
    asks(sandbox, "ALTER SYSTEM SET archive_command = 'false'");
    let data = asks(sandbox, "SHOW data_directory");
    let pid = fs::read_to_string(format!("{data}/postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Sent::INT).unwrap();
    eventually("the database comes back", async || {
        let _reports = sandbox.tend();
        sandbox.database().run_sql("SHOW archive_mode").is_ok_and(|mode| mode == "on")
    })
    .await;
}

/// Waits until a gauge of the worker is as it should be.
async fn shows(worker: &Process, gauge: &str, is_right: impl Fn(u64) -> bool) {
    eventually(gauge, async || {
        let told = Numbers::of(worker).await;
        told.has(gauge, &[]) && is_right(told.count(gauge, &[]))
    })
    .await;
}

#[test]
fn a_failing_archive_and_a_lagging_standby_each_move_their_gauge() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let options = Options { works: false, ..Options::for_tests(directory().join("health")) };
    let mut sandbox = Sandbox::start(&options, &programs()).unwrap();
    runtime.block_on(archives_to_nowhere(&mut sandbox));
    asks(&sandbox, "GRANT pg_read_all_stats TO vendgate_worker_login");
    let often = [("VENDGATE__ROUNDS__COUNT_EVERY_MS", "100")];
    let worker = sandbox.another_retry_worker(&programs().retry_worker, "looks-often", &often).unwrap();
    runtime.block_on(async {
        asks(&sandbox, WRITES);
        asks(&sandbox, "SELECT pg_switch_wal()");
        shows(&worker, "vendgate_archive_failing", |failing| failing == 1).await;
        asks(&sandbox, "ALTER SYSTEM SET archive_command = 'true'");
        asks(&sandbox, "SELECT pg_reload_conf()");
        shows(&worker, "vendgate_archive_failing", |failing| failing == 0).await;

        let receiver = Receiver::of(&sandbox);
        eventually("the receiver is seen", async || {
            Numbers::of(&worker).await.count("vendgate_standbys", &[("seen", "yes")]) == 1
        })
        .await;
        receiver.signal(Sent::STOP);
        asks(&sandbox, WRITES);
        shows(&worker, "vendgate_replication_lag_megabytes", |lag| lag >= 1).await;
        receiver.signal(Sent::CONT);
        shows(&worker, "vendgate_replication_lag_megabytes", |lag| lag == 0).await;
    });
}
