//! `cargo sandbox` from start to end: start, tour, serving, stop.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a person reads this")]

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use identity::Environment;
use sandbox::{
    COLLEAGUE_SETTINGS, Options, Pauses, Programs, SUPPORT_SETTINGS, Sandbox, SandboxInfo, StartError, tour,
};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    sync::{Notify, oneshot},
};

use crate::arguments::Arguments;

/// The interval of the checks for ended parts.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The stop requests of the user: stop, and stop at once.
#[derive(Clone, Default)]
struct StopSignals {
    stop: Arc<Notify>,
    hurry: Arc<AtomicBool>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let signals = StopSignals::listen(&runtime)?;
    println!(
        "Bringing up a private Postgres, the simulated utility, the API server, the worker and the console ..."
    );
    let mut options = Options { port: arguments.port, ..Options::for_people() };
    options.directory = arguments.directory.clone().unwrap_or(options.directory);
    if arguments.production {
        options.environment = Environment::Production;
    }
    let programs = Programs::of_this_executable()?;
    let started = runtime.block_on(async {
        tokio::select! {
            started = bring_up(&options, &programs, arguments.once) => Some(started),
            () = signals.stop.notified() => None,
        }
    });
    let Some(started) = started else {
        // The parts that were started so far end with this process.
        println!("\nStopped during the start.");
        return Ok(());
    };
    let mut sandbox = started?;
    let outcome = runtime.block_on(async {
        let shown =
            async { if arguments.once { show_once(&mut sandbox).await } else { serve(&mut sandbox).await } };
        tokio::select! {
            shown = shown => shown,
            () = signals.stop.notified() => Ok(()),
        }
    });
    println!("\nStopping: work in progress is finished first (Ctrl-C again to stop at once).");
    sandbox.stop(|| signals.hurry.load(Ordering::Relaxed));
    outcome
}

/// Prints an error with all its causes on one line.
pub(crate) fn complain(program: &str, error: &(dyn Error + 'static)) -> ExitCode {
    eprintln!("{program}: {}", in_words(error));
    ExitCode::FAILURE
}

/// Starts everything. Starts it again after a failure that may be temporary: nothing was in use yet, so nothing is
/// lost. `--once` is a check, so it fails on any failure.
async fn bring_up(options: &Options, programs: &Programs, is_once: bool) -> Result<Sandbox, Box<dyn Error>> {
    let mut pauses = Pauses::default();
    let mut printed = String::new();
    loop {
        let error = match start(options.clone(), programs.clone()).await? {
            Ok(sandbox) => return Ok(sandbox),
            Err(error) if is_once || !error.may_pass() => return Err(error.into()),
            Err(error) => error,
        };
        let pause = pauses.lengthen();
        let line = format!("The sandbox did not start: {}. Trying again in {pause:?}.", in_words(&error));
        if line != printed {
            println!("{line}");
        }
        printed = line;
        tokio::time::sleep(pause).await;
    }
}

/// Starts on a separate thread, so that Ctrl-C can interrupt the wait.
fn start(options: Options, programs: Programs) -> oneshot::Receiver<Result<Sandbox, StartError>> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        // The receiver is gone only if the user has stopped the command.
        let _sent = sender.send(Sandbox::start(&options, &programs));
    });
    receiver
}

/// The tour as a check: no step may fail and no part may end.
async fn show_once(sandbox: &mut Sandbox) -> Result<(), Box<dyn Error>> {
    let info = sandbox.info().clone();
    let toured = tour(&info, &mut io::stdout()).await;
    if let Some(ended) = sandbox.ended() {
        return Err(ended.to_string().into());
    }
    toured?;
    print_where_the_info_is(sandbox)?;
    Ok(())
}

/// The tour, and serving after it. An ended part does not end this.
async fn serve(sandbox: &mut Sandbox) -> Result<(), Box<dyn Error>> {
    let info = sandbox.info().clone();
    tokio::select! {
        () = show(&info) => {}
        () = tend(sandbox) => {}
    }
    print_where_the_info_is(sandbox)?;
    print_the_console(sandbox).await;
    println!("Serving until Ctrl-C.");
    io::stdout().flush()?;
    tend(sandbox).await;
    Ok(())
}

/// A failure of the tour is only printed: a part may have ended meanwhile, and is started again.
async fn show(info: &SandboxInfo) {
    if let Err(surprise) = tour(info, &mut io::stdout()).await {
        println!("\nThe tour failed: {}. The sandbox keeps running.", in_words(&surprise));
    }
}

fn print_where_the_info_is(sandbox: &Sandbox) -> io::Result<()> {
    println!("\nAddresses and credentials: {}", sandbox.write_info()?.display());
    Ok(())
}

/// The console is not needed by the tour, so a database that is away at this moment is only printed.
async fn print_the_console(sandbox: &Sandbox) {
    let settings = sandbox.info().operator_settings.display();
    match sandbox.console_link().await {
        Ok(None) => {}
        Ok(Some(link)) => println!(
            "The operators' console: {link}\nThe link works once, within five minutes. For another one: cargo run -p vendctl -- \
             --settings {settings} console link\nA colleague, who approves, has the settings {}\nA person at the support desk has the settings {}",
            sandbox.info().operator_settings.with_file_name(COLLEAGUE_SETTINGS).display(),
            sandbox.info().operator_settings.with_file_name(SUPPORT_SETTINGS).display()
        ),
        Err(refusal) => println!("The operators' console has no link now: {refusal}"),
    }
}

/// Restarts parts that have ended. Never returns.
async fn tend(sandbox: &mut Sandbox) {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        for report in sandbox.tend() {
            println!("{report}");
        }
    }
}

fn in_words(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl StopSignals {
    /// The first Ctrl-C or SIGTERM stops, the second stops at once.
    fn listen(runtime: &Runtime) -> io::Result<Self> {
        let signals = Self::default();
        let shared = signals.clone();
        let _on_the_runtime = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        runtime.spawn(async move {
            let mut next = async || {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            };
            next().await;
            shared.stop.notify_one();
            next().await;
            shared.hurry.store(true, Ordering::Relaxed);
        });
        Ok(signals)
    }
}
