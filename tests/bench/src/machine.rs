//! The machine under the measurements, so that results of two machines can be compared.

use std::{fmt, fs, hint::black_box};

use clock::{Clock, SystemClock};
use local_postgres::LocalPostgres;

use crate::{
    Failure,
    finding::Unit,
    postgres::{bare_commits, fresh_database},
};

/// Steps of the loop that scores one core: about a quarter of a second.
const STEPS: u64 = 250_000_000;

/// What the machine is and what it can do.
pub struct Machine {
    date: String,
    processor: String,
    cores: usize,
    /// Millions of steps per second.
    score: u128,
    memory_mib: u64,
    kernel: String,
    postgres: String,
    /// The median of the time of a commit, in microseconds.
    commit: u128,
}

impl Machine {
    /// Looks at the machine and measures what every result depends on.
    pub async fn calibrate(postgres: &LocalPostgres) -> Result<Self, Failure> {
        let (cpu, memory) = (fs::read_to_string("/proc/cpuinfo")?, fs::read_to_string("/proc/meminfo")?);
        let version = fresh_database(postgres)?.run_sql("SHOW server_version")?;
        let kib: u64 = value_of(&memory, "MemTotal").trim_end_matches(" kB").parse()?;
        Ok(Self {
            date: SystemClock.now().format("%-d %B %Y").to_string(),
            processor: value_of(&cpu, "model name").to_owned(),
            cores: cpu.lines().filter(|line| line.starts_with("processor")).count(),
            score: score_of_one_core(),
            memory_mib: kib / 1_024,
            kernel: version_of(&fs::read_to_string("/proc/sys/kernel/osrelease")?).to_owned(),
            postgres: version,
            commit: bare_commits(postgres).await?.percentile(50).as_micros(),
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { date, processor, cores, score, memory_mib, kernel, postgres, commit } = self;
        writeln!(out, "* {date}")?;
        writeln!(
            out,
            "* {cores} cores: {processor}; one core makes {score} million steps of a fixed loop per second"
        )?;
        writeln!(out, "* {memory_mib} MiB of memory, Linux {kernel}, PostgreSQL {postgres}")?;
        write!(out, "* a bare commit that is synced to disk takes {} (p50)", Unit::Time.show(*commit))
    }
}

/// The version of a kernel, without the name of its build.
fn version_of(release: &str) -> &str {
    release.trim().split_once('-').map_or(release.trim(), |(version, _build)| version)
}

/// The value in the first line `name: value`.
fn value_of<'a>(text: &'a str, name: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(its_name, _)| its_name.trim() == name).map_or("unknown", |(_, value)| value.trim())
}

/// Each step of this loop (xorshift, Marsaglia 2003) needs the result of the one before, so neither a second core nor a
/// wider one helps.
fn score_of_one_core() -> u128 {
    let began = SystemClock.monotonic();
    let mut state = black_box(1_u64);
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    let took = SystemClock.monotonic().elapsed_since(began);
    u128::from(STEPS).checked_div(took.as_micros()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_the_name_of_its_line() {
        let text = "processor\t: 0\nmodel name\t: A processor: fast\nMemTotal:  24105 kB\n";
        assert_eq!(value_of(text, "model name"), "A processor: fast");
        assert_eq!(value_of(text, "MemTotal"), "24105 kB");
        assert_eq!(value_of(text, "Model"), "unknown");
    }
}
