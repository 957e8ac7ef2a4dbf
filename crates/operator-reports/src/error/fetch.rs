//! Why no statement was fetched.

use std::{error::Error, io};

use chrono_tz::Tz;

/// Why no statement was fetched. There is no file then.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(
        "the settings of vendctl have no section [providers.{}], so it cannot ask {provider}; a person whose settings have it fetches \
         statements. If {provider} sends files, reconcile one",
        provider.to_lowercase()
    )]
    NoSettings { provider: String },
    #[error(
        "the section [providers.{}] has no {setting}, which only a statement needs; ask {provider} which it is, and set it",
        provider.to_lowercase()
    )]
    SettingMissing { provider: String, setting: &'static str },
    #[error("the provider {provider} cannot be asked")]
    Unusable { provider: String, source: Box<dyn Error + Send + Sync> },
    #[error("the protocol of {provider} has no list of orders; reconcile a file that the provider sends")]
    NoList { provider: String },
    #[error(
        "the list of a provider lags behind sales; fetch this period after {after} ({zone}), or give a shorter --lag"
    )]
    TooEarly { after: String, zone: Tz },
    #[error("{file} exists, and is not replaced; name another file, or reconcile the one there is")]
    Exists { file: String },
    #[error("{file} cannot be written; name a file in a directory that exists and that you may write to")]
    Unwritten { file: String, source: io::Error },
    #[error(
        "{provider} refused our credentials or settings; compare the section [providers.{}] with that of the servers",
        provider.to_lowercase()
    )]
    Refused { provider: String },
    #[error("{provider} did not give its list: {why}; try again later")]
    Unanswered { provider: String, why: &'static str },
    #[error(
        "the list of {provider} changed while it was read, or its pages are not as many as it states; try again, and if that does not \
         help, ask {provider} how its pages are counted"
    )]
    Changed { provider: String },
    #[error(
        "{provider} lists {order}, of which the {field} cannot be read. It may be a vend, so there is no statement of this period without \
         it; ask {provider} what it is"
    )]
    Unreadable { provider: String, order: String, field: &'static str },
}
