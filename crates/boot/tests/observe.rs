//! The monitoring listener, over real connections.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use boot::{Metrics, Observatory, ObserveError, ObserveSettings, metrics, panics};
use clock::SystemClock;

/// The metrics of a process can be started only once.
fn counting() -> Metrics {
    static METRICS: std::sync::LazyLock<Metrics> =
        std::sync::LazyLock::new(|| metrics::start(panics::describe_metrics).unwrap());
    METRICS.clone()
}

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send>>;

fn open(ready: impl Fn() -> Answer + Send + Sync + 'static) -> Observatory {
    Observatory::start(&ObserveSettings::on_port(0), &counting(), Arc::new(SystemClock), ready).unwrap()
}

fn is_ready() -> Answer {
    Box::pin(async { Ok(()) })
}

/// Status and body of the answer to one request.
fn ask(address: SocketAddr, method: &str, path: &str) -> (u16, String) {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(connection, "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split_whitespace().nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn a_process_is_alive_and_ready_until_it_stops_and_says_so_before_it_is_gone() {
    let observatory = open(is_ready);
    let address = observatory.address();
    assert!(address.ip().is_loopback());
    assert_eq!(ask(address, "GET", "/healthz"), (200, "alive\n".to_owned()));
    let (status, body) = ask(address, "GET", "/readyz");
    assert_eq!(status, 200);
    assert!(body.contains("\"ready\":true") && body.contains("\"since\":\"20"), "{body}");

    observatory.stopping();
    let (status, body) = ask(address, "GET", "/readyz");
    assert_eq!(status, 503);
    assert!(body.contains("\"ready\":false") && body.contains("the process is stopping"), "{body}");
    assert_eq!(ask(address, "GET", "/healthz").0, 200);

    drop(observatory);
    for _try in 0..2_000 {
        if TcpStream::connect(address).is_err() {
            return;
        }
        std::thread::yield_now();
    }
    assert!(TcpStream::connect(address).is_err(), "it still listens");
}

#[test]
fn what_keeps_it_from_its_work_is_told() {
    let away = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&away);
    let observatory = open(move || {
        let away = seen.load(Ordering::Relaxed);
        Box::pin(async move { if away { Err("the database is away") } else { Ok(()) } })
    });
    let (status, body) = ask(observatory.address(), "GET", "/readyz");
    assert_eq!(status, 503);
    assert!(body.contains("\"why\":\"the database is away\""), "{body}");
    away.store(false, Ordering::Relaxed);
    assert_eq!(ask(observatory.address(), "GET", "/readyz").0, 503, "an answer is valid for two seconds");
}

#[test]
fn the_monitoring_listener_serves_no_other_path() {
    let observatory = open(is_ready);
    for path in ["/", "/metrics/", "/healthz/x", "/public/v1/accounts", "/../metrics", "/favicon.ico"] {
        let (status, body) = ask(observatory.address(), "GET", path);
        assert_eq!((status, body.as_str()), (404, ""), "{path}");
    }
    for path in ["/metrics", "/healthz", "/readyz"] {
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(ask(observatory.address(), method, path).0, 404, "{method} {path}");
        }
    }
}

#[test]
fn a_panic_is_counted_and_a_taken_address_is_named() {
    let observatory = open(is_ready);
    let panics = || {
        let (_, text) = ask(observatory.address(), "GET", "/metrics");
        let line = text.lines().find(|line| line.starts_with("vendgate_panics_total ")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    let before = panics();
    assert!(std::thread::spawn(|| panic!("a literal")).join().is_err());
    assert_eq!(panics(), before + 1);

    let settings = ObserveSettings { listen: observatory.address().to_string() };
    let taken = Observatory::start(&settings, &counting(), Arc::new(SystemClock), is_ready);
    assert!(matches!(taken, Err(ObserveError::Listen { listen, .. }) if listen == settings.listen));
}
