//! A connection as the server reads and answers it, over a pipe in memory.

use std::future::Future;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::timeout,
};

use super::*;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const SOON: Duration = Duration::from_millis(200);
const LIMITS: HeadLimits =
    HeadLimits { bytes_max: 1_000, within: Duration::from_millis(20), body_within: Duration::from_secs(9) };

fn run<Served: Future<Output = ()>>(
    serves: impl FnOnce(DuplexStream, CheckedStream<DuplexStream>) -> Served,
) {
    actix_web::rt::System::new().block_on(async {
        let (caller, socket) = duplex(64 * 1_024);
        serves(caller, HeadChecks::new(LIMITS).of(socket)).await;
    });
}

/// What can be read within [`SOON`]; empty if nothing arrives.
async fn read(stream: &mut CheckedStream<DuplexStream>) -> Vec<u8> {
    let mut buffer = [0; 10_000];
    let read = timeout(SOON, stream.read(&mut buffer)).await;
    read.map_or_else(|_nothing| Vec::new(), |length| buffer[..length.unwrap()].to_vec())
}

#[test]
fn of_requests_that_arrive_together_each_waits_for_the_answer_to_the_one_before() {
    run(async |mut caller, mut stream| {
        caller.write_all(&GET.repeat(100)).await.unwrap();
        for _ in 0..100 {
            assert_eq!(read(&mut stream).await, GET);
            stream.answers().count();
        }
        caller.write_all(&GET.repeat(2)).await.unwrap();
        assert_eq!(read(&mut stream).await, GET);
        assert_eq!(read(&mut stream).await, b"", "the first one is not answered");
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
        assert_eq!(read(&mut stream).await, b"", "written bytes do not count as an answer");
    });
}

#[test]
fn a_request_that_was_answered_before_it_was_whole_keeps_the_next_one_from_nothing() {
    run(async |mut caller, mut stream| {
        let (head, body) = (b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n", b"xy");
        caller.write_all(head).await.unwrap();
        assert_eq!(read(&mut stream).await, head);
        stream.answers().count();
        caller.write_all(&[body, GET].concat()).await.unwrap();
        assert_eq!(read(&mut stream).await, body);
        assert_eq!(read(&mut stream).await, GET);
    });
}

#[test]
fn a_caller_that_hangs_up_while_it_waits_is_seen() {
    run(async |mut caller, mut stream| {
        caller.write_all(GET).await.unwrap();
        assert_eq!(read(&mut stream).await, GET);
        drop(caller);
        assert_eq!(timeout(SOON, stream.read(&mut [0])).await.unwrap().unwrap(), 0);
    });
}

#[test]
fn empty_lines_between_requests_are_no_head_that_is_late() {
    run(async |mut caller, mut stream| {
        caller.write_all(GET).await.unwrap();
        assert_eq!(read(&mut stream).await, GET);
        stream.answers().count();
        caller.write_all(b"\r\n").await.unwrap();
        assert_eq!(read(&mut stream).await, b"", "no stand-in for a head that was not begun");
        caller.write_all(GET).await.unwrap();
        assert!(read(&mut stream).await.ends_with(GET));
    });
}

#[test]
fn a_connection_on_which_nothing_but_empty_lines_arrive_ends() {
    run(async |mut caller, mut stream| {
        caller.write_all(b"\r\n").await.unwrap();
        assert_eq!(timeout(SOON, stream.read(&mut [0])).await.unwrap().unwrap(), 0);
    });
}
