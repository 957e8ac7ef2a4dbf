//! The network that a request comes from, as far as it can be known.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use actix_web::{HttpRequest, http::header::HeaderMap};
use ipnet::IpNet;

use clock::Monotonic;

use crate::WebSettingsError;

/// The header in which a proxy names the sender of a request.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";

/// Any client can send the header, so the warning must not be able to fill the log.
const WARNED_EVERY: Duration = Duration::from_hours(1);

/// One customer of a network: an IPv4 address, or the 64 leading bits of an IPv6 address. One machine may have as many
/// addresses with the same 64 bits as it likes (RFC 6177).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Network(IpAddr);

/// The proxies in front of this server. Only the addresses that they forward are believed.
#[derive(Debug)]
pub(crate) struct Proxies {
    ours: Vec<IpNet>,
    /// When it was last logged that a peer which is not ours forwards requests.
    warned_at: Mutex<Option<Monotonic>>,
}

impl Network {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }
}

impl Proxies {
    /// Addresses and networks, such as `10.0.0.7` and `fd00::/8`.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, WebSettingsError> {
        let network = |text: &String| {
            let parsed =
                text.parse().or_else(|_no_network| text.parse().map(|address: IpAddr| address.into()));
            parsed.map_err(|_no_address| WebSettingsError::BadProxy(text.clone()))
        };
        let ours = texts.iter().map(network).collect::<Result<_, _>>()?;
        Ok(Self { ours, warned_at: Mutex::default() })
    }

    /// The network that a request comes from: that of the peer. If the peer is one of our proxies, it is the network of
    /// the sender that the proxy names, and so on. What precedes the first address that is not ours could have been
    /// written by any client, and need not even be text.
    pub(crate) fn origin(&self, request: &HttpRequest, now: Monotonic) -> Network {
        // A request without a peer did not come over a network: it is a test.
        let peer = request.peer_addr().map_or(Ipv6Addr::UNSPECIFIED.into(), |peer| peer.ip().to_canonical());
        let headers = request.headers();
        if headers.contains_key(FORWARDED_FOR) && !self.are_ours(peer) && self.is_time_to_warn(now) {
            tracing::warn!(
                %peer,
                "X-Forwarded-For from a peer that web.trusted_proxies does not name is not believed: if it is \
                 your proxy, all who come through it share the limits of one address"
            );
        }
        Network::of(self.sender(peer, headers))
    }

    fn is_time_to_warn(&self, now: Monotonic) -> bool {
        let mut warned_at = self.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = warned_at.is_none_or(|warned_at| now.elapsed_since(warned_at) >= WARNED_EVERY);
        if is_time {
            *warned_at = Some(now);
        }
        is_time
    }

    fn sender(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let forwarded: Vec<&[u8]> = headers
            .get_all(FORWARDED_FOR)
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .collect();
        let mut sender = peer;
        for previous in forwarded.into_iter().rev() {
            match address_in(previous) {
                Some(previous) if self.are_ours(sender) => sender = previous,
                Some(_) | None => break,
            }
        }
        sender
    }

    fn are_ours(&self, address: IpAddr) -> bool {
        self.ours.iter().any(|network| network.contains(&address))
    }
}

/// Some proxies also write the port.
fn address_in(bytes: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(bytes).ok()?.trim();
    let address = text.parse().ok().or_else(|| {
        let socket = text.parse().ok().map(|socket: std::net::SocketAddr| socket.ip());
        socket.or_else(|| text.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
    });
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use actix_web::{http::header::HeaderValue, test::TestRequest};

    use super::*;

    fn proxies() -> Proxies {
        Proxies::parse(&["10.0.0.0/8".to_owned(), "fd00::1".to_owned()]).unwrap()
    }

    fn origin(peer: &str, forwarded: &[&str]) -> Network {
        origin_of_bytes(peer, &forwarded.iter().map(|value| value.as_bytes()).collect::<Vec<_>>())
    }

    fn origin_of_bytes(peer: &str, forwarded: &[&[u8]]) -> Network {
        let mut request = TestRequest::get().peer_addr(peer.parse().unwrap());
        for value in forwarded {
            request = request.append_header(("X-Forwarded-For", HeaderValue::from_bytes(value).unwrap()));
        }
        proxies().origin(&request.to_http_request(), at(0))
    }

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    fn network(address: &str) -> Network {
        Network(address.parse().unwrap())
    }

    #[test]
    fn a_peer_that_is_no_proxy_of_ours_is_the_origin_whatever_it_says() {
        assert_eq!(origin("192.0.2.1:99", &["198.51.100.7"]), network("192.0.2.1"));
    }

    #[test]
    fn the_rightmost_address_that_is_not_ours_is_the_origin() {
        for forwarded in [
            &["203.0.113.9, 198.51.100.7"][..],
            &["203.0.113.9", "198.51.100.7, 10.1.1.1"],
            &["198.51.100.7:4711 , 10.2.2.2,fd00::1"],
            &["nonsense, 198.51.100.7"],
        ] {
            assert_eq!(origin("10.0.0.1:99", forwarded), network("198.51.100.7"), "{forwarded:?}");
        }
        assert_eq!(origin("[fd00::1]:99", &["[2001:db8::1]:80"]), network("2001:db8::"));
        assert_eq!(origin("[::ffff:10.0.0.1]:99", &["::ffff:198.51.100.7"]), network("198.51.100.7"));
    }

    #[test]
    fn what_a_client_writes_hides_nothing_of_what_our_proxy_adds() {
        for written in [&b"\xff"[..], b"caf\xc3\xa9", b"\xff, 10.1.1.1", b"\xe2\x82"] {
            let forwarded = [written, b", 198.51.100.7"].concat();
            for forwarded in [&[&forwarded[..]][..], &[written, b"198.51.100.7"]] {
                let origin = origin_of_bytes("10.0.0.1:99", forwarded);
                assert_eq!(origin, network("198.51.100.7"), "{forwarded:?}");
            }
        }
        assert_eq!(origin_of_bytes("10.0.0.1:99", &[b"198.51.100.7, \xff"]), network("10.0.0.1"));
    }

    #[test]
    fn an_unnamed_proxy_is_warned_about_once_in_an_hour() {
        let proxies = proxies();
        let warnings = [0, 1, 3_599, 3_600, 7_199, 7_200].map(|second| proxies.is_time_to_warn(at(second)));
        assert_eq!(warnings, [true, false, false, true, false, true]);
    }

    #[test]
    fn where_a_proxy_says_nothing_usable_it_is_the_origin_itself() {
        assert_eq!(origin("10.0.0.1:99", &[]), network("10.0.0.1"));
        assert_eq!(origin("10.0.0.1:99", &["198.51.100.7, unknown"]), network("10.0.0.1"));
        assert_eq!(origin("10.0.0.1:99", &["10.3.3.3"]), network("10.3.3.3"));
    }

    #[test]
    fn a_machine_with_many_ipv6_addresses_is_one() {
        let networks =
            ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9"].map(|text| Network::of(text.parse().unwrap()));
        assert_eq!(networks, [network("2001:db8:1:2::"); 2]);
        assert_ne!(Network::of("2001:db8:1:3::1".parse().unwrap()), networks[0]);
    }

    #[test]
    fn what_is_no_network_is_refused_by_name() {
        let refused = Proxies::parse(&["10.0.0.0/33".to_owned()]).unwrap_err();
        assert_eq!(refused, WebSettingsError::BadProxy("10.0.0.0/33".to_owned()));
    }
}
