//! The process: it prints its addresses, serves requests, and exits cleanly on SIGTERM.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
};

#[test]
fn it_prints_its_addresses_serves_there_and_ends_well_when_asked_to_stop() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_utility-sim-server"))
        .env("VENDGATE__SIMULATOR__POPULATION", "5")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let address = url.strip_prefix("http://").unwrap();

    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(r#"{"status":"ok"}"#), "{answer}");

    let smtp = lines.next().unwrap().unwrap();
    let mut connection = TcpStream::connect(smtp.strip_prefix("smtp ").unwrap()).unwrap();
    connection.write_all(b"QUIT\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "220 simulator ESMTP\r\n221 2.0.0 Bye\r\n");

    let status = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(status.success());
    assert!(process.wait().unwrap().success());
    assert!(lines.next().is_none(), "the addresses are the only lines");
}

#[test]
fn mistaken_settings_stop_it_before_it_listens_and_are_named_in_one_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_utility-sim-server"))
        .env("VENDGATE__SIMULATOR__POPULASHUN", "5")
        .env("VENDGATE__SIMULATOR__LISTEN", "here")
        .env("VENDGATE__TELEMETRY__FILTER", "store=loud")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    for key in ["`simulator.populashun` is unknown", "`simulator.listen` is wrong", "`telemetry` is wrong"] {
        assert!(said.contains(key), "{key} is not in {said}");
    }
}
