//! Where messages of an endpoint may be sent.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use url::{Host, Url};

use crate::is_public;

/// The longest address of an endpoint, in bytes.
pub const DESTINATION_LENGTH_MAX: usize = 2_000;

/// The top-level names that no public server has: RFC 6761, RFC 6762, RFC 8375 and the one that ICANN reserves for private use.
const PRIVATE_NAMES: [&str; 7] = ["localhost", "local", "internal", "home.arpa", "test", "invalid", "onion"];

/// What the operator allows.
#[derive(Clone, Debug, Default)]
pub struct DestinationRules {
    /// Whether messages may be sent without TLS.
    pub allow_http: bool,
    /// Networks that are allowed although they are not public. An address that stands for another one is compared as it is.
    pub allow_networks: Vec<IpNet>,
}

/// The address of an endpoint. `Debug` shows only its host: the rest may contain a secret of its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct Destination(Url);

/// Why an address cannot be the address of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// It is no absolute URL, or has no host.
    #[error("must be an absolute URL such as https://till.example/webhooks")]
    Malformed,
    /// It is longer than [`DESTINATION_LENGTH_MAX`].
    #[error("must have at most 2000 bytes")]
    TooLong,
    /// It is not `https`, and the operator does not allow `http`.
    #[error("must begin with https://")]
    NotHttps,
    /// It contains a user name or a password, which would be in logs.
    #[error("must have no user name and no password")]
    Credentials,
    /// It has a fragment, which is never sent.
    #[error("must have no fragment (#)")]
    Fragment,
    /// Its host is not public.
    #[error("must lead to a public address")]
    NotPublic,
}

impl Destination {
    /// Reads an address and checks what can be checked without resolving its name.
    pub fn parse(text: &str, rules: &DestinationRules) -> Result<Self, DestinationError> {
        if text.len() > DESTINATION_LENGTH_MAX {
            return Err(DestinationError::TooLong);
        }
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        let url = Url::parse(text).ok().filter(|_url| plain).ok_or(DestinationError::Malformed)?;
        match url.scheme() {
            "https" => {}
            "http" if rules.allow_http => {}
            "http" => return Err(DestinationError::NotHttps),
            _ => return Err(DestinationError::Malformed),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(DestinationError::Credentials);
        }
        if url.fragment().is_some() {
            return Err(DestinationError::Fragment);
        }
        let allowed = match url.host().ok_or(DestinationError::Malformed)? {
            Host::Ipv4(address) => rules.allow(address.into()),
            Host::Ipv6(address) => rules.allow(address.into()),
            Host::Domain(name) => !rules.allow_networks.is_empty() || is_public_name(name),
        };
        allowed.then_some(Self(url)).ok_or(DestinationError::NotPublic)
    }

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.0
    }
}

impl DestinationRules {
    /// Whether messages may be sent to this address: to be asked about the very address that is connected to.
    pub fn allow(&self, address: IpAddr) -> bool {
        is_public(address) || self.allow_networks.iter().any(|network| network.contains(&address))
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Destination({})", self.0.host_str().unwrap_or_default())
    }
}

/// Whether a name can be that of a public server. A name without a dot is completed by the resolver of the sender's network.
fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_in =
        |private: &str| name.strip_suffix(private).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    name.contains('.') && !PRIVATE_NAMES.into_iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, rules: &DestinationRules) -> Result<(), DestinationError> {
        Destination::parse(text, rules).map(drop)
    }

    #[test]
    fn an_endpoint_is_a_public_https_url_without_credentials() {
        let strict = DestinationRules::default();
        let longest = format!("https://till.example/{}", "a".repeat(DESTINATION_LENGTH_MAX));
        let cases = [
            ("https://till.example/webhooks?shop=7", Ok(())),
            ("https://till.example:8443/", Ok(())),
            ("https://8.8.8.8/", Ok(())),
            ("https://[2606:4700::1111]/", Ok(())),
            ("till.example/webhooks", Err(DestinationError::Malformed)),
            ("ftp://till.example/", Err(DestinationError::Malformed)),
            ("https://till.example/a b", Err(DestinationError::Malformed)),
            ("https:///nothing", Err(DestinationError::NotPublic)),
            ("https://tïll.example/", Err(DestinationError::Malformed)),
            ("", Err(DestinationError::Malformed)),
            (longest.as_str(), Err(DestinationError::TooLong)),
            ("http://till.example/", Err(DestinationError::NotHttps)),
            ("https://user@till.example/", Err(DestinationError::Credentials)),
            ("https://:word@till.example/", Err(DestinationError::Credentials)),
            ("https://till.example/#top", Err(DestinationError::Fragment)),
            ("https://127.0.0.1/", Err(DestinationError::NotPublic)),
            ("https://2130706433/", Err(DestinationError::NotPublic)),
            ("https://0x7f.1/", Err(DestinationError::NotPublic)),
            ("https://169.254.169.254/latest/meta-data", Err(DestinationError::NotPublic)),
            ("https://[::1]/", Err(DestinationError::NotPublic)),
            ("https://[::ffff:10.0.0.1]/", Err(DestinationError::NotPublic)),
            ("https://localhost/", Err(DestinationError::NotPublic)),
            ("https://shop.localhost./", Err(DestinationError::NotPublic)),
            ("https://metadata.google.internal/", Err(DestinationError::NotPublic)),
            ("https://intranet/", Err(DestinationError::NotPublic)),
            ("https://notinternal.example/", Ok(())),
        ];
        for (text, expected) in cases {
            assert_eq!(judged(text, &strict), expected, "{text}");
        }
    }

    #[test]
    fn the_operator_can_allow_http_and_a_network_of_its_own() {
        let network = "10.20.0.0/16".parse().unwrap();
        let rules = DestinationRules { allow_http: true, allow_networks: vec![network] };
        for text in ["http://10.20.0.7:8080/hook", "https://tills.internal/"] {
            assert_eq!(judged(text, &rules), Ok(()), "{text}");
        }
        for text in ["http://10.21.0.7/", "http://[::ffff:10.20.0.7]/", "http://127.0.0.1/"] {
            assert_eq!(judged(text, &rules), Err(DestinationError::NotPublic), "{text}");
        }
    }

    #[test]
    fn an_address_shows_its_host_only() {
        let destination = Destination::parse("https://till.example/key/s3cret", &DestinationRules::default());
        assert_eq!(format!("{:?}", destination.unwrap()), "Destination(till.example)");
    }
}
