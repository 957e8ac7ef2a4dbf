//! Rehearses the loss of the database's primary: three servers of Postgres under Patroni and etcd, each in a network
//! namespace of its own, and API servers and workers that sell all the time. The checker of the crash tests then judges
//! everything that happened.
//!
//! `just failover` runs 30 rounds. It needs root and installs what is missing. The exit status is not zero when a promise
//! is broken.

#![expect(clippy::print_stdout, reason = "it prints its results for the operator")]

mod arguments;
mod cluster;
mod fault;
mod namespaces;
mod node;
mod probe;
mod rehearsal;
mod report;
mod system;

use std::{env, error::Error, fs, path::Path, process::ExitCode, sync::Arc};

use acceptance::fault_injection::{FaultEnv, MANY_METERS, Seed, now};
use sandbox::{Options, Pace, Process, Programs, parts};
use tokio::{runtime::Builder, task::JoinHandle};

use crate::{
    arguments::Arguments,
    cluster::{Cluster, PORT, PROXY},
    node::Plan,
    probe::Probe,
    rehearsal::Rehearsal,
    report::Report,
};

/// Why there is no result.
type Failure = Box<dyn Error + Send + Sync>;

/// The exit status of a process that Ctrl-C ended, as shells report it.
const INTERRUPTED: i32 = 130;

/// The password of the cluster's roles. Nothing outside of its namespaces can reach it.
const PASSWORD: &str = "rehearsed";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some((_part, outcome)) = parts::run(&mut env::args().skip(1).peekable()) {
        return outcome.map(|()| ExitCode::SUCCESS);
    }
    let is_kept = run().map_err(|failure| -> Box<dyn Error> { failure })?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether every promise was kept.
fn run() -> Result<bool, Failure> {
    let mut words = env::args().skip(1).peekable();
    if words.next_if(|word| word == namespaces::INSIDE).is_none() {
        Arguments::parse(words)?;
        namespaces::enter()?;
        return Ok(false);
    }
    let arguments = Arguments::parse(words)?;
    let directory = env::temp_dir().join(format!("vendgate-failover-{}", now()));
    fs::create_dir_all(&directory)?;
    println!("logs are in {}", directory.display());
    let report = rehearsed(&arguments, &directory)?;
    println!("\n{report}");
    if report.is_kept() {
        cluster::unmount(&directory)?;
        fs::remove_dir_all(&directory)?;
    }
    Ok(report.is_kept())
}

fn rehearsed(arguments: &Arguments, directory: &Path) -> Result<Report, Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let _listening: JoinHandle<()> = runtime.spawn(stop_on_interrupt());
    let programs = local_postgres::programs()?;
    let plan = Plan {
        programs: &programs,
        password: PASSWORD,
        is_synchronous: !arguments.is_asynchronous,
        has_etcd3: arguments.has_etcd3,
    };
    let cluster = Cluster::build(directory, &plan)?;
    runtime.block_on(cluster.whole())?;
    let address = if arguments.is_through_proxy {
        runtime.block_on(cluster.start_proxy(PASSWORD))?;
        local_postgres::Cluster::new(vec![PROXY.0.to_owned()], PROXY.1, PASSWORD.to_owned())
    } else {
        local_postgres::Cluster::new(cluster.addresses(), PORT, PASSWORD.to_owned())
    };
    let options = Options {
        pace: Pace::Brisk,
        cluster: Some(address),
        requires_standby: !arguments.is_asynchronous,
        population: MANY_METERS,
        ..Options::for_tests(directory.join("service"))
    };
    let env = Arc::new(FaultEnv::start_with(options, Programs::of_this_executable()?));
    let (mut server, mut worker) = second_of_each(&env)?;
    let mut seed = Seed::given_or_new("failover");
    let faults = rehearsal::dealt(arguments.rounds, &arguments.kinds, &mut seed);
    let rehearsal = Rehearsal {
        runtime: &runtime,
        cluster: &cluster,
        probe: Probe::start(runtime.handle(), &cluster.addresses(), PASSWORD),
        urls: vec![env.url().to_owned(), server.url().to_owned()],
        env: env.clone(),
        is_through_proxy: arguments.is_through_proxy,
    };
    let mut report = rehearsal.run(&faults)?;
    report.ended = ended(&mut server).into_iter().chain(ended(&mut worker)).collect();
    drop(rehearsal);
    let mut env = Arc::into_inner(env).ok_or("a till still runs")?;
    report.ended.extend(env.sandbox.ended().map(|ended| ended.to_string()));
    Ok(report)
}

/// Ends everything on Ctrl-C: the shell that started this process in the background made it ignore that signal.
#[expect(clippy::exit, reason = "the namespaces end with this process, and everything in them")]
async fn stop_on_interrupt() {
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(INTERRUPTED);
    }
}

fn second_of_each(env: &FaultEnv) -> Result<(Process, Process), Failure> {
    let server = env.sandbox.another_api_server(&env.programs.api_server, "second-server", &[])?;
    let worker = env.sandbox.another_retry_worker(&env.programs.retry_worker, "second-worker", &[])?;
    Ok((server, worker))
}

fn ended(process: &mut Process) -> Option<String> {
    let status = process.has_ended()?;
    Some(format!("{} has ended ({status}; see {})", process.name(), process.log().display()))
}
