//! The address that a server listens on, as a setting gives it.

/// The text is not a host and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("listen is not an address and port such as 127.0.0.1:8080")]
pub struct BadListenAddress;

/// Checks the form of such a setting. Only an attempt to listen shows whether the address can be used.
///
/// # Errors
/// When the host or the port is missing.
pub fn check_listen_address(text: &str) -> Result<(), BadListenAddress> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(()),
        Some(_) | None => Err(BadListenAddress),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port_make_an_address() {
        for address in ["127.0.0.1:8080", "[::1]:0", "localhost:9464"] {
            assert_eq!(check_listen_address(address), Ok(()), "{address}");
        }
        for text in ["", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000"] {
            assert_eq!(check_listen_address(text), Err(BadListenAddress), "{text}");
        }
    }
}
