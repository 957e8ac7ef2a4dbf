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
    time::Duration,
};

use sandbox::{Options, Programs, Sandbox, tour};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    sync::Notify,
};

use crate::arguments::Arguments;

/// How often a server that has ended is looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

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
    let mut sandbox = Sandbox::start(&options, &Programs::of_this_executable()?)?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            shown = show(&mut sandbox, arguments.once) => shown,
            () = wish.stop.notified() => Ok(()),
        }
    });
    println!("\nStopping: what is under way is brought to its end (Ctrl-C again to stop at once).");
    sandbox.stop(|| wish.hurry.load(Ordering::Relaxed));
    outcome
}

/// Prints an error with everything that caused it, on one line.
pub(crate) fn complain(who: &str, error: &(dyn Error + 'static)) -> ExitCode {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let sentence: Vec<String> = causes.map(ToString::to_string).collect();
    eprintln!("{who}: {}", sentence.join(": "));
    ExitCode::FAILURE
}

async fn show(sandbox: &mut Sandbox, once: bool) -> Result<(), Box<dyn Error>> {
    let facts = sandbox.facts().clone();
    let toured = tour(&facts, &mut io::stdout()).await;
    // Nothing may end on the tour, however well that went.
    if let Some(ended) = sandbox.ended() {
        return Err(ended.to_string().into());
    }
    toured?;
    let facts = sandbox.write_facts()?;
    println!("\nEverything needed to call it: {}", facts.display());
    if once {
        return Ok(());
    }
    println!("Serving until Ctrl-C.");
    io::stdout().flush()?;
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        for ended in sandbox.tend()? {
            println!("{ended}, and was started again.");
        }
    }
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
