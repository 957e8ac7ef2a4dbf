//! The HTTP client of everything that looks at the sandbox from outside.

use reqwest::{Client, redirect::Policy};

/// A client that follows no redirect and asks no proxy: everything is on loopback.
///
/// # Errors
/// When the machine's TLS cannot be set up, which even plain HTTP asks for.
pub fn http_client() -> Result<Client, reqwest::Error> {
    let _chosen_before = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().redirect(Policy::none()).build()
}
