//! Process statistics from the kernel.

use std::error::Error;
use std::time::Duration;

/// The peak memory of a process.
pub fn peak_memory_kib(process: u32) -> Result<u64, Box<dyn Error>> {
    status_kib(process, "VmHWM:")
}

/// The current memory of a process.
pub fn memory_kib(process: u32) -> Result<u64, Box<dyn Error>> {
    status_kib(process, "VmRSS:")
}

/// The processor time of a process, in the kernel's ticks of ten milliseconds.
pub fn computing_time(process: u32) -> Result<Duration, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may contain spaces and ends with the last bracket. User and system time are the fields 14 and 15.
    let fields = stat.rsplit_once(')').ok_or("the kernel reports no times here")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks.saturating_mul(10)))
}

fn status_kib(process: u32, line: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let found = found.and_then(|rest| rest.split_whitespace().next());
    Ok(found.ok_or("the kernel reports no memory here")?.parse()?)
}
