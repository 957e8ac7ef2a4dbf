//! A log that a test can read.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Dispatch, Level,
    subscriber::{DefaultGuard, NoSubscriber, set_default, set_global_default},
};
use tracing_subscriber::fmt::MakeWriter;

/// One more subscriber in the process. If there is only one, `tracing` lets the thread that is the first to reach a log statement
/// decide for all threads whether it is ever logged.
static ANOTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

/// What was logged while it was captured. Clones are handles to the same log.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Captures what this thread logs, from `level` up, until the guard is dropped.
    pub fn of_this_thread(level: Level) -> (Self, DefaultGuard) {
        LazyLock::force(&ANOTHER);
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(log.clone())
            .with_ansi(false)
            .finish();
        (log, set_default(subscriber))
    }

    /// Captures what all threads of this process log from now on, one JSON object per line. Only one test of a process
    /// can do this.
    pub fn of_this_process() -> Self {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().json().with_writer(log.clone()).finish();
        set_global_default(subscriber).expect("only one test captures the log of its process");
        log
    }

    /// Everything that was logged.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// The lines that contain all of these words.
    pub fn lines_with(&self, words: &[&str]) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter(|line| words.iter().all(|word| line.contains(word)));
        lines.map(str::to_owned).collect()
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
