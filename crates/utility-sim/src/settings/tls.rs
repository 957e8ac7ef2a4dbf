//! An address with TLS.

use std::net::SocketAddr;

use serde::Deserialize;

use super::Password;

/// An address at which the HTTP interfaces are served with TLS.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The address to listen on. Port 0 takes a free port.
    #[serde(default = "any_port")]
    pub listen: SocketAddr,
    /// The certificate chain as PEM, the server's own certificate first.
    pub certificate_pem: String,
    /// The private key as PEM.
    pub private_key_pem: Password,
}

impl TlsSettings {
    /// A free loopback port with this certificate chain and private key, both as PEM.
    pub fn new(certificate_pem: impl Into<String>, private_key_pem: &str) -> Self {
        let private_key_pem = Password::from(private_key_pem);
        Self { listen: any_port(), certificate_pem: certificate_pem.into(), private_key_pem }
    }
}

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}
