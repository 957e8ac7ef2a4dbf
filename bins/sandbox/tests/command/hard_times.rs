//! Parts are killed while they start, or lose their connections or their database. The test calls the supervision.

use std::{
    fs,
    net::TcpStream,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use sandbox::{Happening, Options, Program, Programs, Report, Sandbox};

const PATIENCE: Duration = Duration::from_mins(2);

fn started(name: &str) -> Sandbox {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sandbox-{name}"));
    let part = |name: &str| Program {
        leading_arguments: vec![name.into()],
        ..Program::at(env!("CARGO_BIN_EXE_sandbox"))
    };
    let programs = Programs {
        api_server: part(sandbox::parts::API_SERVER),
        retry_worker: part(sandbox::parts::RETRY_WORKER),
        utility_sim: part(sandbox::parts::UTILITY_SIM),
        console: part(sandbox::parts::CONSOLE),
    };
    Sandbox::start(&Options::for_tests(directory), &programs).unwrap()
}

/// Supervises until the condition holds, and returns all reports.
fn tended_until(
    sandbox: &mut Sandbox,
    mut enough: impl FnMut(&mut Sandbox, &[Report]) -> bool,
) -> Vec<Report> {
    let began = Instant::now();
    let mut reports = Vec::new();
    loop {
        reports.extend(sandbox.tend());
        if enough(sandbox, &reports) {
            return reports;
        }
        assert!(began.elapsed() < PATIENCE, "{reports:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ups(reports: &[Report], part: &str) -> usize {
    let up = |report: &&Report| report.part == part && matches!(report.happening, Happening::Up { .. });
    reports.iter().filter(up).count()
}

/// The reasons why the API server did not start.
fn failed_starts(reports: &[Report]) -> impl Iterator<Item = &str> {
    reports.iter().filter(|report| report.part == "api-server").filter_map(|report| match &report.happening {
        Happening::NotStarted { why, .. } => Some(why.as_str()),
        Happening::Ended { .. } | Happening::Up { .. } => None,
    })
}

fn serves(sandbox: &Sandbox) -> bool {
    TcpStream::connect(sandbox.info().base_url.trim_start_matches("http://")).is_ok()
}

#[test]
fn a_server_that_is_killed_four_times_while_it_starts_comes_up_in_the_end() {
    let mut sandbox = started("four-times");
    let mut killed = sandbox.api_server().id();
    sandbox.api_server().signal(Signal::KILL).unwrap();
    let mut times = 0;
    let reports = tended_until(&mut sandbox, |sandbox, reports| {
        assert!(times == 4 || ups(reports, "api-server") == 0, "it came up too soon: {reports:?}");
        let next = sandbox.api_server().id();
        if next != killed && times < 4 && sandbox.api_server().signal(Signal::KILL).is_ok() {
            (killed, times) = (next, times + 1);
        }
        ups(reports, "api-server") == 1
    });
    assert!(matches!(reports.first().unwrap().happening, Happening::Ended { .. }), "{reports:?}");
    let pauses = reports.iter().filter_map(|report| match &report.happening {
        Happening::NotStarted { pause, why } => {
            assert_eq!(why, "signal: 9 (SIGKILL)");
            Some(pause.as_millis())
        }
        Happening::Ended { .. } | Happening::Up { .. } => None,
    });
    assert_eq!(pauses.collect::<Vec<_>>(), [500, 1_000, 2_000, 4_000], "each pause is longer");
    assert!(serves(&sandbox));
    sandbox.stop(|| false);
}

/// Cuts all connections every millisecond for one second.
const CUT_ALL_CONNECTIONS: &str = "DO $$ BEGIN FOR i IN 1..1000 LOOP \
    PERFORM pg_stat_clear_snapshot(); \
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'; \
    PERFORM pg_sleep(0.001); END LOOP; END $$";

/// Sets a flag when it goes out of scope, also when an assertion fails.
struct SetsAtEnd<'flag>(&'flag AtomicBool);

impl Drop for SetsAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_server_whose_connections_are_cut_while_it_starts_is_started_again() {
    let mut sandbox = started("cut");
    let (database, over) = (sandbox.database().clone(), AtomicBool::new(false));
    let reports = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                database.run_sql(CUT_ALL_CONNECTIONS).unwrap();
            }
        });
        let _over = SetsAtEnd(&over);
        let mut kills = 0;
        tended_until(&mut sandbox, |sandbox, reports| {
            // A start may be quicker than the next cut.
            if ups(reports, "api-server") == kills && sandbox.api_server().signal(Signal::KILL).is_ok() {
                kills += 1;
            }
            failed_starts(reports).count() >= 2
        })
    });
    let cut = failed_starts(&reports).next().unwrap();
    assert!(cut.starts_with("exit status: 1, last output: the store cannot be used: "), "{reports:?}");
    tended_until(&mut sandbox, |_sandbox, reports| ups(reports, "api-server") == 1);
    assert!(serves(&sandbox));
    sandbox.stop(|| false);
}

#[test]
fn a_database_that_is_killed_comes_back_with_all_that_was_committed() {
    let mut sandbox = started("database");
    let count = "SELECT count(*) FROM accounts";
    let accounts = sandbox.database().run_sql(count).unwrap();
    let server = fs::read_to_string(sandbox.postgres().unwrap().directory().join("server")).unwrap();
    kill_process(Pid::from_raw(server.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let reports = tended_until(&mut sandbox, |_sandbox, reports| ups(reports, "postgres") == 1);
    assert!(reports[0].to_string().starts_with("postgres has ended ("), "{reports:?}");
    assert_eq!(sandbox.database().run_sql(count).unwrap(), accounts);
    // The servers reconnect, or are restarted.
    let ready = format!("{}/readyz", sandbox.info().metrics_urls[0].trim_end_matches("/metrics"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = sandbox::http_client().unwrap();
    tended_until(&mut sandbox, |_sandbox, _told| {
        let asked = runtime.block_on(client.get(&ready).send());
        asked.is_ok_and(|answer| answer.status().is_success())
    });
    sandbox.stop(|| false);
}
