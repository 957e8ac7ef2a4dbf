//! The tour ends at the first unexpected result and reports it.

use std::path::PathBuf;

use sandbox::{Options, Program, Programs, Sandbox, Surprise, tour};

#[test]
fn a_meter_that_does_not_behave_as_it_should_ends_the_tour() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sandbox-surprise");
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
    let sandbox = Sandbox::start(&Options::for_tests(directory), &programs).unwrap();
    let mut info = sandbox.info().clone();
    let other = info.subscribers.electricity["active_13_digit"];
    info.subscribers.electricity.insert("lost_reply", other);

    let mut printed = Vec::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let surprise = runtime.block_on(tour(&info, &mut printed)).unwrap_err();

    assert!(matches!(&surprise, Surprise::Different { expected, .. } if expected == "504"), "{surprise}");
    assert!(
        surprise.to_string().starts_with("the answer to POST /purchases/confirm should be 504"),
        "{surprise}"
    );
    assert!(!String::from_utf8(printed).unwrap().contains("Your turn"));
    sandbox.stop(|| false);
}
