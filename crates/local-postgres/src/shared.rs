//! The server that all tests of a process share.

use std::{error::Error, sync::OnceLock};

use crate::{Durability, LocalPostgres, LocalPostgresError, database::DatabaseName};

static SHARED: OnceLock<Result<LocalPostgres, LocalPostgresError>> = OnceLock::new();

impl LocalPostgres {
    /// The server that all tests of this process share. The first caller starts it, and it ends with the
    /// process.
    ///
    /// # Panics
    /// When no server can be started, because no test that needs one can continue.
    pub fn shared() -> &'static Self {
        shared_or(|| Self::start(Durability::Throwaway))
    }

    /// The same server. If this call starts it, it has the template `template`, which `prepare` fills. What it has filled is
    /// kept in the build directory for other processes, until `version` changes. So `version` must change with everything
    /// that the template contains. `prepare` must not use the shared server.
    ///
    /// # Panics
    /// As [`shared`](Self::shared), and when the template cannot be prepared.
    pub fn shared_with_template<E>(
        template: &str,
        version: &str,
        prepare: impl Fn(&str) -> Result<(), E> + Send + Sync,
    ) -> &'static Self
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        shared_or(|| Self::start_with_template(template, version, &prepare))
    }

    fn start_with_template<E>(
        template: &str,
        version: &str,
        prepare: &(impl Fn(&str) -> Result<(), E> + Send + Sync),
    ) -> Result<Self, LocalPostgresError>
    where
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        let name = DatabaseName::parse(template)?;
        Self::start_prepared(Durability::Throwaway, &[], (template, version), |server| {
            server.ensure_template(&name, prepare)
        })
    }
}

fn shared_or(start: impl FnOnce() -> Result<LocalPostgres, LocalPostgresError>) -> &'static LocalPostgres {
    match SHARED.get_or_init(start) {
        Ok(server) => server,
        #[expect(clippy::panic, reason = "without a server no test of this process can run")]
        Err(error) => panic!("{}", chain(error)),
    }
}

/// An error with all its causes, on one line.
fn chain(error: &LocalPostgresError) -> String {
    let mut sentence = error.to_string();
    let mut cause = Error::source(error);
    while let Some(source) = cause {
        sentence = format!("{sentence}: {source}");
        cause = source.source();
    }
    sentence
}
