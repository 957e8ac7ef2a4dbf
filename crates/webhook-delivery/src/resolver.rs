//! Resolves the name of an endpoint, and gives the client only addresses that may be called. The client connects to exactly
//! these, so a name that resolves differently a moment later changes nothing.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use webhook::DestinationRules;

#[derive(Debug)]
pub(crate) struct CheckedResolver(Arc<DestinationRules>);

/// Why a name cannot be connected to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    #[error("the name of the endpoint cannot be resolved")]
    NoAddress(#[source] io::Error),
    #[error("the name of the endpoint leads to no address that may be called")]
    NotAllowed,
}

impl CheckedResolver {
    pub(crate) const fn new(rules: Arc<DestinationRules>) -> Self {
        Self(rules)
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = self.0.clone();
        Box::pin(async move {
            // The client puts the port of the URL in place of the zero.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(Unresolved::NoAddress)?;
            let allowed: Vec<SocketAddr> = found.filter(|address| rules.allow(address.ip())).collect();
            if allowed.is_empty() {
                return Err(Unresolved::NotAllowed.into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}
