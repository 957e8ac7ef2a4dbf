//! A private Postgres starts in a second, serves its owner, and ends with it, however the owner ends.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are watched from outside, by the machine's own time"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write, stdin, stdout},
    net::TcpStream,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use local_postgres::{Durability, LocalPostgres, LocalPostgresError, ServerState};

#[test]
fn a_server_takes_connections_with_its_password_and_with_no_other() {
    let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
    let merchant = postgres.create_database("shop").unwrap();
    assert_eq!(merchant.run_sql("SELECT current_database()").unwrap(), "shop");
    assert_eq!(postgres.database_url("shop").unwrap(), merchant.url());

    merchant.run_sql("CREATE ROLE clerk LOGIN PASSWORD 'right'").unwrap();
    assert_eq!(current_user(&postgres, &merchant.url_as("clerk", "right")), Ok("clerk".to_owned()));
    let refused = current_user(&postgres, &merchant.url_as("clerk", "wrong")).unwrap_err();
    assert!(refused.contains("password authentication failed"), "{refused}");
}

#[test]
fn only_a_durable_server_syncs_and_both_kinds_answer_only_after_the_commit() {
    let settings = "SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings \
                    WHERE name IN ('fsync', 'full_page_writes', 'max_connections', 'synchronous_commit')";
    for (durability, expected) in
        [(Durability::Durable, "on on 300 on"), (Durability::Throwaway, "off off 300 on")]
    {
        let postgres = LocalPostgres::start(durability).unwrap();
        let database = postgres.create_database("settings").unwrap();
        assert_eq!(database.run_sql(settings).unwrap(), expected);
    }
}

#[test]
fn a_setting_of_the_caller_replaces_the_usual_one() {
    let settings = ["shared_buffers=16MB"];
    let postgres = LocalPostgres::start_with(Durability::Throwaway, &settings).unwrap();
    let database = postgres.create_database("settings").unwrap();
    assert_eq!(database.run_sql("SHOW shared_buffers").unwrap(), "16MB");
}

#[test]
fn other_users_cannot_read_the_directory_and_no_password_stays_in_it() {
    let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
    let mode = fs::metadata(postgres.directory()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(!postgres.directory().join("password").exists());
    let password = postgres.superuser_url();
    assert!(!format!("{postgres:?}").contains(&password["postgres://postgres:".len()..][..32]));
}

#[test]
fn a_cluster_is_made_once_in_a_build_directory_and_copied_for_each_server() {
    if !is_in_our_build_directory() {
        return; // Nothing is kept in the directory of another user.
    }
    let made = "SELECT system_identifier FROM pg_control_system()";
    // Another test may make the one that is kept while the first of these makes one too.
    let [_, second, third] = [(); 3].map(|()| {
        let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
        assert!(!postgres.directory().join("cluster.tar").exists());
        postgres.create_database("shop").unwrap().run_sql(made).unwrap()
    });
    assert_eq!(second, third);
}

#[test]
fn dropping_the_server_ends_it_and_removes_what_it_stored() {
    let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
    let (directory, port) = (postgres.directory().to_owned(), postgres.port());
    assert!(directory.exists() && TcpStream::connect(("127.0.0.1", port)).is_ok());
    drop(postgres);
    assert!(!directory.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_server_that_was_killed_is_started_again_with_all_that_was_committed() {
    let mut postgres = LocalPostgres::start(Durability::Durable).unwrap();
    let merchant = postgres.create_database("shop").unwrap();
    merchant.run_sql("CREATE TABLE sales (id int)").unwrap();
    assert_eq!(postgres.state(), ServerState::Ready);
    for sale in 0..3 {
        merchant.run_sql(&format!("INSERT INTO sales VALUES ({sale})")).unwrap();
        kill(&server_id(&postgres));
        reaches(&mut postgres, ServerState::Ended);
        assert!(merchant.run_sql("SELECT 1").is_err());
        // The rest of the killed server may hold its memory for a moment. Then another start ends too.
        while postgres.state() != ServerState::Ready {
            if postgres.state() == ServerState::Ended {
                postgres.start_again().unwrap();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    assert_eq!(merchant.run_sql("SELECT count(*) FROM sales").unwrap(), "3");
    let (directory, port) = (postgres.directory().to_owned(), postgres.port());
    drop(postgres);
    assert!(!directory.exists() && TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn an_owner_that_is_killed_after_its_server_was_leaves_nothing() {
    let mut owner = Owner::start(&std::env::current_exe().unwrap(), None);
    kill(fs::read_to_string(owner.directory.join("server")).unwrap().trim());
    let ended = owner.directory.join("ended");
    wait_until("the watcher says that the server has ended", || ended.exists());
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    owner.leaves_nothing();
}

#[test]
fn without_its_watcher_a_server_cannot_be_started_again_and_that_is_said() {
    let mut postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
    let server = server_id(&postgres);
    let status = fs::read_to_string(format!("/proc/{server}/status")).unwrap();
    let watcher = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned();
    kill(&watcher);
    assert_eq!(postgres.state(), ServerState::Ready);
    kill(&server);
    reaches(&mut postgres, ServerState::Ended);
    assert!(matches!(postgres.start_again(), Err(LocalPostgresError::WatcherKilled)));
    let directory = postgres.directory().to_owned();
    drop(postgres);
    // No process is left to clean up.
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn killing_the_owner_ends_the_server_and_removes_what_it_stored() {
    let mut owner = Owner::start(&std::env::current_exe().unwrap(), None);
    assert!(TcpStream::connect(("127.0.0.1", owner.port)).is_ok());
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    owner.leaves_nothing();
}

#[test]
fn an_owner_that_returns_from_main_leaves_nothing_although_its_server_is_shared() {
    let mut owner = Owner::start(&std::env::current_exe().unwrap(), None);
    drop(owner.process.stdin.take());
    assert!(owner.process.wait().unwrap().success());
    owner.leaves_nothing();
}

#[test]
fn an_ordinary_user_without_a_home_can_have_a_server_too() {
    let uid = |name| Command::new("id").args(["-u", name]).output().map(|id| id.stdout);
    if uid("root").unwrap() != Command::new("id").arg("-u").output().unwrap().stdout {
        return; // Every other test of this file already runs as an ordinary user.
    }
    let somewhere = Scratch::make();
    let program = somewhere.0.join("owner");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let nobody = String::from_utf8(uid("nobody").unwrap()).unwrap().trim().parse().unwrap();

    let mut owner = Owner::start(&program, Some(nobody));

    assert!(TcpStream::connect(("127.0.0.1", owner.port)).is_ok());
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    owner.leaves_nothing();
}

#[test]
fn a_hundred_databases_are_copied_from_a_template_that_is_prepared_once() {
    let postgres = LocalPostgres::shared();
    let prepared = std::sync::atomic::AtomicU32::new(0);
    let prepare = |url: &str| {
        prepared.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        run_psql(postgres, url, "CREATE TABLE meter (number text); INSERT INTO meter VALUES ('04123456789')")
            .map(drop)
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let database = postgres.database_from_template("migrated", prepare).unwrap();
                    assert_eq!(
                        database.run_sql("DELETE FROM meter RETURNING number").unwrap(),
                        "04123456789"
                    );
                }
            });
        }
    });
    assert_eq!(prepared.into_inner(), 1);
}

#[test]
fn a_template_is_prepared_once_in_a_build_directory_and_anew_for_another_version() {
    if !is_in_our_build_directory() {
        return; // Nothing is kept in the directory of another user.
    }
    let prepared = |version: &str| {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process.args(["--ignored", "--exact", "--nocapture", "a_template_in_another_process"]);
        let output = process.env(VERSION, version).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("it has the meter 04123456789"), "{said}");
        said.contains("it is prepared")
    };
    let [one, another] = ["one", "another"].map(|version| format!("{version} of {}", std::process::id()));
    assert!(prepared(&one));
    assert!(!prepared(&one));
    assert!(prepared(&another));
}

#[test]
fn a_template_whose_preparation_failed_is_prepared_again_by_the_next_call() {
    let postgres = LocalPostgres::shared();
    let failed = postgres.database_from_template("fragile", |url| {
        run_psql(postgres, url, "CREATE TABLE half_made ()").unwrap();
        Err("the migration is wrong")
    });
    assert!(matches!(failed, Err(LocalPostgresError::Template { template, .. }) if template == "fragile"));
    let made = postgres.database_from_template("fragile", |_| Ok::<_, String>(())).unwrap();
    assert_eq!(made.run_sql("SELECT to_regclass('half_made') IS NULL").unwrap(), "t");
}

#[test]
fn a_database_name_that_would_need_quoting_is_refused() {
    let postgres = LocalPostgres::shared();
    for name in ["", "Shop", "a-b", "1st", "x; DROP DATABASE postgres", &"x".repeat(51)] {
        assert!(
            matches!(postgres.create_database(name), Err(LocalPostgresError::BadName { .. })),
            "{name:?}"
        );
    }
}

#[test]
fn a_statement_that_fails_says_why() {
    let error = LocalPostgres::shared().create_database("postgres").unwrap_err();
    assert!(error.to_string().contains("database \"postgres\" already exists"), "{error}");
}

#[test]
#[ignore = "not a test: what the tests above start as another process, and kill"]
fn the_owner_in_another_process() {
    let postgres = LocalPostgres::shared();
    println!("\nowner: {} {}", postgres.port(), postgres.directory().display());
    stdout().flush().unwrap();
    stdin().lines().for_each(drop);
}

/// The environment variable with what a template depends on.
const VERSION: &str = "LOCAL_POSTGRES_TEST_VERSION";

#[test]
#[ignore = "not a test: what a test above starts as another process"]
fn a_template_in_another_process() {
    let prepare = |url: &str| {
        println!("\nit is prepared");
        let filled = "CREATE TABLE meter AS SELECT '04123456789' AS number";
        let psql =
            Command::new(local_postgres::programs().unwrap().join("psql")).args(["-c", filled, url]).output();
        if psql.is_ok_and(|psql| psql.status.success()) { Ok(()) } else { Err("psql failed") }
    };
    let version = std::env::var(VERSION).unwrap();
    let postgres = LocalPostgres::shared_with_template("meters", &version, prepare);
    let database = postgres.database_from_template("meters", |_| Err("it is there")).unwrap();
    println!("\nit has the meter {}", database.run_sql("SELECT number FROM meter").unwrap());
}

/// Another process with a server of its own.
struct Owner {
    process: Child,
    /// Kept open, because a process that cannot write its last output fails.
    _says: BufReader<ChildStdout>,
    port: u16,
    directory: PathBuf,
}

impl Owner {
    fn start(program: &Path, uid: Option<u32>) -> Self {
        let mut command = Command::new(program);
        command.args(["--ignored", "--exact", "--nocapture", "the_owner_in_another_process"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(uid) = uid {
            command.uid(uid).env("HOME", "/nonexistent").current_dir("/");
        }
        let mut process = command.spawn().unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let line = says
            .by_ref()
            .lines()
            .map(Result::unwrap)
            .find_map(|line| line.strip_prefix("owner: ").map(str::to_owned));
        let line = line.expect("the owner says where its server is");
        let (port, directory) = line.split_once(' ').unwrap();
        Self { process, _says: says, port: port.parse().unwrap(), directory: directory.into() }
    }

    fn leaves_nothing(&self) {
        let started = Instant::now();
        while self.directory.exists() || TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{} is still there",
                self.directory.display()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_in_our_build_directory() -> bool {
    let program = std::env::current_exe().unwrap();
    let build = program.ancestors().find(|directory| directory.join(".rustc_info.json").is_file());
    let user = fs::metadata("/proc/self").unwrap().uid();
    build.is_some_and(|build| fs::metadata(build).unwrap().uid() == user)
}

fn server_id(postgres: &LocalPostgres) -> String {
    fs::read_to_string(postgres.directory().join("server")).unwrap().trim().to_owned()
}

fn kill(process: &str) {
    assert!(Command::new("kill").args(["-KILL", process]).status().unwrap().success());
}

fn reaches(postgres: &mut LocalPostgres, state: ServerState) {
    wait_until("the server changes its state", || postgres.state() == state);
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}: not within 20 s");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A directory that every user can read, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Self {
        let path = PathBuf::from(format!("/tmp/local-postgres-test-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The user as which the server accepts `url`.
fn current_user(server: &LocalPostgres, url: &str) -> Result<String, String> {
    run_psql(server, url, "SELECT current_user")
}

fn run_psql(server: &LocalPostgres, url: &str, sql: &str) -> Result<String, String> {
    let output =
        Command::new(server.program("psql")).args(["-X", "-q", "-A", "-t", "-c", sql, url]).output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    Err(String::from_utf8(output.stderr).unwrap())
}
