//! The cookies: of a session, of a sign-in that waits for an OpenID provider, and of the language.

use actix_web::{HttpRequest, http::header};
use messages::Language;
use secrecy::{ExposeSecret, SecretString};

use crate::openid::ATTEMPT_LENGTH_MAX;

/// How the cookie is set. Browsers take the first name only from HTTPS, and from no other host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookie {
    is_encrypted: bool,
}

impl Cookie {
    pub(crate) const fn new(is_encrypted: bool) -> Self {
        Self { is_encrypted }
    }

    const fn name(self) -> &'static str {
        if self.is_encrypted { "__Host-console" } else { "console" }
    }

    /// The header that sets it until the browser is closed.
    pub(crate) fn set(self, value: &SecretString) -> String {
        self.header(value.expose_secret(), "")
    }

    /// The header that removes it.
    pub(crate) fn removed(self) -> String {
        self.header("", "; Max-Age=0")
    }

    fn header(self, value: &str, more: &str) -> String {
        let secure = if self.is_encrypted { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}", self.name())
    }

    /// The header that binds a sign-in to the browser that has begun it, until it must be finished. The way back from the provider is
    /// a link of another site, which a strict cookie does not follow.
    pub(crate) fn set_sign_in(self, value: &SecretString) -> String {
        self.sign_in_header(value.expose_secret(), ATTEMPT_LENGTH_MAX.as_secs())
    }

    /// The header that removes it.
    pub(crate) fn sign_in_removed(self) -> String {
        self.sign_in_header("", 0)
    }

    fn sign_in_header(self, value: &str, max_age_s: u64) -> String {
        let secure = if self.is_encrypted { "; Secure" } else { "" };
        let name = self.sign_in_name();
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_s}{secure}")
    }

    /// Its value in a request.
    pub(crate) fn of_sign_in(self, request: &HttpRequest) -> Option<SecretString> {
        value(request, self.sign_in_name()).map(SecretString::from)
    }

    const fn sign_in_name(self) -> &'static str {
        if self.is_encrypted { "__Host-sign-in" } else { "sign-in" }
    }

    /// The header that keeps the language that a person has chosen, for a year.
    pub(crate) fn set_language(self, language: Language) -> String {
        let secure = if self.is_encrypted { "; Secure" } else { "" };
        format!("{LANGUAGE}={}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax{secure}", language.as_str())
    }

    /// Its value in a request.
    pub(crate) fn of(self, request: &HttpRequest) -> Option<SecretString> {
        value(request, self.name()).map(SecretString::from)
    }
}

const LANGUAGE: &str = "language";

/// The language that the person has chosen, if there is one.
pub(crate) fn language(request: &HttpRequest) -> Option<Language> {
    let chosen = value(request, LANGUAGE)?;
    Language::ALL.into_iter().find(|language| language.as_str() == chosen)
}

fn value<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let sent = request.headers().get_all(header::COOKIE).filter_map(|value| value.to_str().ok());
    let mut pairs =
        sent.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(its, value)| (its == name).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_script_and_no_other_site_sends_the_cookie() {
        let value = SecretString::from("a");
        let here = Cookie::new(false).set(&value);
        assert_eq!(here, "console=a; Path=/; HttpOnly; SameSite=Strict");
        let encrypted = Cookie::new(true).set(&value);
        assert_eq!(encrypted, "__Host-console=a; Path=/; HttpOnly; SameSite=Strict; Secure");
    }

    #[test]
    fn a_sign_in_is_bound_to_its_browser_for_ten_minutes() {
        let value = SecretString::from("a");
        let here = Cookie::new(false).set_sign_in(&value);
        assert_eq!(here, "sign-in=a; Path=/; HttpOnly; SameSite=Lax; Max-Age=600");
        let encrypted = Cookie::new(true).set_sign_in(&value);
        assert_eq!(encrypted, "__Host-sign-in=a; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure");
    }
}
