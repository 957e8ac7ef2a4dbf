//! A login and its password, apart from the address of the database.

use std::fmt::Display;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};

use crate::{AddressError, DatabaseSettings, connection};

/// A login of the database, and its password.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Who connects.
    pub login: String,
    /// The password.
    pub password: SecretString,
}

impl DatabaseSettings {
    /// The login and the password of the address. `None` if it has no password, because the server knows the login by other
    /// means.
    ///
    /// # Errors
    /// If the address cannot be that of a database.
    pub fn credentials(&self) -> Result<Option<Credentials>, AddressError> {
        connection::address(self).map(|address| address.credentials())
    }

    /// The same database, used by another login. Its own address keeps only the servers, and how the connection is protected.
    #[must_use]
    pub fn used_by(mut self, credentials: &Credentials) -> Self {
        let url = self.database_url.expose_secret();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let [login, password] =
            [credentials.login.as_str(), credentials.password.expose_secret()].map(encoded);
        self.database_url = format!("{scheme}://{login}:{password}@{}", servers(rest)).into();
        self
    }

    /// The same database, used by another login without a password: its server knows this program, by its certificate or as a
    /// user of the same machine, and has a map of the logins that it may be.
    #[must_use]
    pub fn used_without_password(mut self, login: &str) -> Self {
        let url = self.database_url.expose_secret();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        self.database_url = format!("{scheme}://{}@{}", encoded(login), servers(rest)).into();
        self
    }
}

/// What comes after the credentials, which the first `@` ends, as in the driver.
fn servers(rest: &str) -> &str {
    rest.split_once('@').map_or(rest, |(_own, servers)| servers)
}

fn encoded(text: &str) -> impl Display {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_login_uses_the_same_servers_with_its_own_password() {
        let settings = DatabaseSettings::for_database("postgres://console:of-console@a:1,b:2/vendgate");
        let naledi = Credentials { login: "naledi".to_owned(), password: "p@:/?".to_owned().into() };
        let used = settings.clone().used_by(&naledi).credentials().unwrap().unwrap();
        assert_eq!((used.login.as_str(), used.password.expose_secret()), ("naledi", "p@:/?"));
        let own = settings.credentials().unwrap().unwrap();
        assert_eq!((own.login.as_str(), own.password.expose_secret()), ("console", "of-console"));
        let without = DatabaseSettings::for_database("postgres://console@a/vendgate");
        assert!(without.credentials().unwrap().is_none());

        let known = settings.used_without_password("n@ledi");
        assert_eq!(known.database_url.expose_secret(), "postgres://n%40ledi@a:1,b:2/vendgate");
    }
}
