//! The HTTP client for callers of the sandbox.

use reqwest::{Client, redirect::Policy};

/// A client that follows no redirect and uses no proxy: everything is on loopback.
///
/// # Errors
/// When TLS cannot be set up. The client needs it even for plain HTTP.
pub fn http_client() -> Result<Client, reqwest::Error> {
    let _chosen_before = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().redirect(Policy::none()).build()
}
