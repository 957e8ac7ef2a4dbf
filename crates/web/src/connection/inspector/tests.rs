//! Bytes that arrive singly are passed on as those that arrive at once, and the server can read what is passed on.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 1_000;

/// The configuration of the server's decoder.
fn config() -> ServiceConfig {
    thread_local! {
        // It starts a task, for which a runtime must exist but need not run.
        static CONFIG: ServiceConfig = actix_web::rt::System::new().block_on(async { ServiceConfig::default() });
    }
    CONFIG.with(ServiceConfig::clone)
}

/// What is passed on of bytes that arrive in pieces, and what was wrong with the rest.
fn passed_of(arriving: &[&[u8]]) -> (Vec<u8>, Option<Broken>) {
    let mut inspector = Inspector::new(config(), LIMIT);
    let (mut held, mut passed) = (Vec::new(), Vec::new());
    for fresh in arriving {
        held.extend_from_slice(fresh);
        let mut fresh = fresh.to_vec();
        loop {
            let inspected = inspector.inspect(&held, &fresh);
            passed.extend(held.drain(..inspected.passed));
            if inspected.broken.is_some() {
                return (passed, inspected.broken);
            }
            if !inspected.ends_request || held.is_empty() {
                break;
            }
            fresh.clone_from(&held);
        }
    }
    (passed, None)
}

fn at_once(bytes: &str) -> (String, Option<Broken>) {
    let (passed, broken) = passed_of(&[bytes.as_bytes()]);
    (String::from_utf8(passed).unwrap(), broken)
}

fn byte_by_byte(bytes: &str) -> (String, Option<Broken>) {
    let single: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
    let (passed, broken) = passed_of(&single);
    (String::from_utf8(passed).unwrap(), broken)
}

const GET: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const POST: &str = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\n\n\n";
const CHUNKED: &str =
    "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n1\r\n\n\r\n0\r\n\r\n";

#[test]
fn requests_that_follow_each_other_are_passed_on_as_they_are() {
    for requests in [GET.to_owned(), format!("\r\n{GET}"), [GET, POST, CHUNKED, GET, CHUNKED, POST].concat()]
    {
        assert_eq!(at_once(&requests), (requests.clone(), None));
        assert_eq!(byte_by_byte(&requests), (requests.clone(), None));
    }
}

#[test]
fn a_head_is_held_until_it_is_whole_and_a_body_is_not() {
    let (head, body) = POST.split_at(POST.len() - 4);
    assert_eq!(at_once(&head[..head.len() - 1]), (String::new(), None));
    assert_eq!(at_once(&format!("{head}{}", &body[..2])).0, format!("{head}{}", &body[..2]));
    assert_eq!(at_once(&format!("{POST}{}", &GET[..9])).0, POST);
}

#[test]
fn a_broken_head_ends_what_is_passed_on_and_is_told_by_its_kind() {
    use BrokenHead::{BareLineFeed, TooLarge, Unreadable};
    let large = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(LIMIT));
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "a:\r\n".repeat(97));
    for (broken, why) in [
        ("GET / HTTP/1.1\nHost: x\n\n", BareLineFeed),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\n\r\n", BareLineFeed),
        ("\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", BareLineFeed),
        ("GET / HTTP/1.1\r\n\r\n", Unreadable),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", Unreadable),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", Unreadable),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", Unreadable),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", Unreadable),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Unreadable),
        ("\u{16}\u{3}\u{1}\u{2}", Unreadable),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", Unreadable),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", Unreadable),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", Unreadable),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", Unreadable),
        ("GET / HTTP/1.1\r\nHost: x\r\nVendgate-Broken-Head: too-slow\r\n\r\n", Unreadable),
        (&large, TooLarge),
        (&many, TooLarge),
    ] {
        let expected = (POST.to_owned(), Some(Broken::Head(why)));
        assert_eq!(at_once(&format!("{POST}{broken}{GET}")), expected, "{broken:?}");
        assert_eq!(byte_by_byte(&format!("{POST}{broken}{GET}")), expected, "{broken:?}");
    }
    let endless = format!("{POST}{}", &large[..=LIMIT]);
    assert_eq!(at_once(&endless), (POST.to_owned(), Some(Broken::Head(TooLarge))));
}

#[test]
fn a_chunk_that_contradicts_itself_breaks_the_body() {
    let (head, _) = CHUNKED.split_once("\r\n\r\n").unwrap();
    for chunk in ["x\r\n", "3\r\nabcd\r\n", "3\nabc\r\n", "ffffffffffffffffff\r\n"] {
        let (passed, broken) = at_once(&format!("{head}\r\n\r\n{chunk}"));
        assert!(passed.starts_with(head), "{chunk:?}");
        assert_eq!(broken, Some(Broken::Body), "{chunk:?}");
    }
}

#[test]
fn after_an_upgrade_nothing_is_looked_at() {
    let upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\n\n";
    assert_eq!(at_once(upgrade), (upgrade.to_owned(), None));
    assert_eq!(byte_by_byte(upgrade), (upgrade.to_owned(), None));
}

#[test]
fn an_idle_connection_keeps_no_memory() {
    let mut inspector = Inspector::new(config(), LIMIT);
    inspector.inspect(CHUNKED.as_bytes(), CHUNKED.as_bytes());
    assert_eq!(inspector.ahead.capacity(), 0);
}

/// Correct lines, and lines that are nearly correct.
fn lines() -> impl Strategy<Value = String> {
    let whole = prop::sample::select(vec![
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "POST /b HTTP/1.1\r\nHost: x\r\n",
        "Host: x\r\n",
        "Content-Length: 2\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "Upgrade: websocket\r\n",
        "2\r\nab\r\n",
        "0\r\n",
        "\r\n",
        "\r\n",
        "\n",
        "A:b\n",
        "ab",
    ]);
    let odd = prop::collection::vec(prop::sample::select(b" :\r\n\t/1aG\0;".to_vec()), 0..6)
        .prop_map(|bytes| String::from_utf8(bytes).unwrap());
    prop::collection::vec(prop_oneof![8 => whole.prop_map(str::to_owned), 1 => odd], 0..14)
        .prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn whatever_is_passed_on_the_server_can_read(bytes in lines(), cuts in prop::collection::vec(0_usize..200, 0..4)) {
        let mut places: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
        places.sort_unstable();
        let (mut pieces, mut rest, mut cut_off) = (Vec::new(), bytes.as_bytes(), 0);
        for place in places {
            let (piece, further) = rest.split_at(place - cut_off);
            pieces.push(piece);
            (rest, cut_off) = (further, place);
        }
        pieces.push(rest);

        let (passed, broken) = passed_of(&pieces);
        prop_assert!(bytes.as_bytes().starts_with(&passed));
        let (mut server, mut unread) = (Codec::new(config()), BytesMut::from(&passed[..]));
        let mut tunnel = false;
        while let Some(message) = server.decode(&mut unread).expect("the server reads what is passed on") {
            tunnel |= matches!(message, Message::Item(_)) && server.message_type() == MessageType::Stream;
            if tunnel {
                break;
            }
        }
        prop_assert!(tunnel || unread.is_empty(), "a piece of a head was passed on");
        let (passed_at_once, _) = passed_of(&[bytes.as_bytes()]);
        if broken.is_none() {
            prop_assert_eq!(passed, passed_at_once);
        }
    }
}
