//! `cargo sandbox` from beginning to end: up, the tour, serving, down.
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

use sandbox::{Facts, Options, Pauses, Programs, Sandbox, StartError, tour};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    sync::{Notify, oneshot},
};

use crate::arguments::Arguments;

/// How often a part that has ended is looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What the person wants: on, off, off at once.
#[derive(Clone, Default)]
struct Wish {
    stop: Arc<Notify>,
    hurry: Arc<AtomicBool>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let wish = Wish::of_the_person(&runtime)?;
    println!("Bringing up a private Postgres, the simulated utility, the API server and the worker ...");
    let mut options = Options { port: arguments.port, ..Options::for_people() };
    options.directory = arguments.directory.clone().unwrap_or(options.directory);
    let programs = Programs::of_this_executable()?;
    let started = runtime.block_on(async {
        tokio::select! {
            started = bring_up(&options, &programs, arguments.once) => Some(started),
            () = wish.stop.notified() => None,
        }
    });
    let Some(started) = started else {
        // Whatever was started so far ends with this process.
        println!("\nStopped while it was starting.");
        return Ok(());
    };
    let mut sandbox = started?;
    let outcome = runtime.block_on(async {
        let shown =
            async { if arguments.once { show_once(&mut sandbox).await } else { serve(&mut sandbox).await } };
        tokio::select! {
            shown = shown => shown,
            () = wish.stop.notified() => Ok(()),
        }
    });
    println!("\nStopping: what is under way is brought to its end (Ctrl-C again to stop at once).");
    sandbox.stop(|| wish.hurry.load(Ordering::Relaxed));
    outcome
}

/// Prints an error with everything that caused it, on one line.
pub(crate) fn complain(who: &str, error: &(dyn Error + 'static)) -> ExitCode {
    eprintln!("{who}: {}", in_words(error));
    ExitCode::FAILURE
}

/// Starts everything, and starts it anew while what has failed may do better: nothing that is lost by that was in use.
/// `--once` is a check, which fails on any failure.
async fn bring_up(options: &Options, programs: &Programs, is_once: bool) -> Result<Sandbox, Box<dyn Error>> {
    let mut pauses = Pauses::default();
    let mut told = String::new();
    loop {
        let error = match start(options.clone(), programs.clone()).await? {
            Ok(sandbox) => return Ok(sandbox),
            Err(error) if is_once || !error.may_pass() => return Err(error.into()),
            Err(error) => error,
        };
        let pause = pauses.lengthen();
        let line = format!(
            "The sandbox did not start: {}. All of it is started anew in {pause:?}.",
            in_words(&error)
        );
        if line != told {
            println!("{line}");
        }
        told = line;
        tokio::time::sleep(pause).await;
    }
}

/// A thread of its own waits for the start, so that a person need not.
fn start(options: Options, programs: Programs) -> oneshot::Receiver<Result<Sandbox, StartError>> {
    let (says, hears) = oneshot::channel();
    thread::spawn(move || {
        // Nobody listens any more only if the person has stopped it.
        let _nobody_listens = says.send(Sandbox::start(&options, &programs));
    });
    hears
}

/// The tour, on which nothing may go wrong and nothing may end.
async fn show_once(sandbox: &mut Sandbox) -> Result<(), Box<dyn Error>> {
    let facts = sandbox.facts().clone();
    let toured = tour(&facts, &mut io::stdout()).await;
    if let Some(ended) = sandbox.ended() {
        return Err(ended.to_string().into());
    }
    toured?;
    tell_where_the_facts_are(sandbox)?;
    Ok(())
}

/// The tour, and all the time after it. Nothing that a part does ends it.
async fn serve(sandbox: &mut Sandbox) -> Result<(), Box<dyn Error>> {
    let facts = sandbox.facts().clone();
    tokio::select! {
        () = show(&facts) => {}
        () = tend(sandbox) => {}
    }
    tell_where_the_facts_are(sandbox)?;
    println!("Serving until Ctrl-C.");
    io::stdout().flush()?;
    tend(sandbox).await;
    Ok(())
}

/// A surprise on the tour is told, and no more: a part may have ended meanwhile, and will be started again.
async fn show(facts: &Facts) {
    if let Err(surprise) = tour(facts, &mut io::stdout()).await {
        println!("\nThe tour ends here: {}. The sandbox goes on.", in_words(&surprise));
    }
}

fn tell_where_the_facts_are(sandbox: &Sandbox) -> io::Result<()> {
    println!("\nEverything needed to call it: {}", sandbox.write_facts()?.display());
    Ok(())
}

/// Has what has ended started again, for ever.
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

impl Wish {
    /// The first Ctrl-C or SIGTERM stops, the second hurries.
    fn of_the_person(runtime: &Runtime) -> io::Result<Self> {
        let wish = Self::default();
        let heard = wish.clone();
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
            heard.stop.notify_one();
            next().await;
            heard.hurry.store(true, Ordering::Relaxed);
        });
        Ok(wish)
    }
}
