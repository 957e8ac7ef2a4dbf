//! A failed first start is reported in one sentence and leaves no process running.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::{fs, path::PathBuf};

use sandbox::{Options, Program, Programs, Sandbox};

/// The child processes of this process that have not ended.
fn children() -> Vec<String> {
    let parent = format!("\nPPid:\t{}\n", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let status = processes.map(|process| fs::read_to_string(process.join("status")).unwrap_or_default());
    status.filter(|status| status.contains(&parent)).collect()
}

// The only test of its process, so all children belong to its sandbox.
#[test]
fn a_part_that_cannot_start_ends_all_that_was_started_before_it() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sandbox-part-that-cannot-start");
    let part = |name: &str| Program {
        leading_arguments: vec![name.into()],
        ..Program::at(env!("CARGO_BIN_EXE_sandbox"))
    };
    let broken = Program {
        leading_arguments: vec!["-c".into(), "echo 'retry-worker: the disk is full' >&2; exit 3".into()],
        ..Program::at("/bin/sh")
    };
    let programs = Programs {
        api_server: part(sandbox::parts::API_SERVER),
        retry_worker: broken,
        utility_sim: part(sandbox::parts::UTILITY_SIM),
        console: part(sandbox::parts::CONSOLE),
    };
    let error = Sandbox::start(&Options::for_tests(directory.clone()), &programs).unwrap_err();
    let log = directory.join("retry-worker.log");
    let expected =
        format!("retry-worker ended: exit status: 3, last output: the disk is full (see {})", log.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(children(), Vec::<String>::new());
}
