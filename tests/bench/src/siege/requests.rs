//! The requests of the floods and of the correct logins.

use sandbox::Credentials;
use serde_json::Value;

/// The address of the server, and the source address in the header.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    pub address: &'a str,
    pub from: &'a str,
}

impl Sender<'_> {
    fn head(&self, request_line: &str) -> String {
        format!("{request_line} HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {}\r\n", self.address, self.from)
    }

    fn post(&self, path: &str, body: &str) -> Vec<u8> {
        let head = self.head(&format!("POST {path}"));
        format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into()
    }
}

/// A login with these credentials.
pub fn login(sender: &Sender<'_>, credentials: &Credentials) -> Vec<u8> {
    sender.post("/public/v1/auth/login", &credentials.login_body().to_string())
}

/// A login of a known client and user with a wrong secret of the right form.
pub fn login_with_wrong_secret(sender: &Sender<'_>, credentials: &Credentials, number: u64) -> Vec<u8> {
    let mut body = credentials.login_body();
    set(&mut body, "client_secret", wrong(&credentials.client_secret, number));
    sender.post("/public/v1/auth/login", &body.to_string())
}

/// A refresh by a known client with a refresh token that was never issued.
pub fn refresh_with_unknown_token(sender: &Sender<'_>, credentials: &Credentials, number: u64) -> Vec<u8> {
    let mut body = credentials.login_body();
    set(&mut body, "grant_type", "refresh_token".to_owned());
    set(&mut body, "refresh_token", format!("vg_test_rt_{number:A<43}"));
    sender.post("/public/v1/auth/refresh", &body.to_string())
}

/// A read with an access token that was never issued.
pub fn read_with_unknown_token(sender: &Sender<'_>, number: u64) -> Vec<u8> {
    let head = sender.head("GET /public/v1/accounts");
    format!("{head}Authorization: Bearer vg_test_at_{number:A<43}\r\n\r\n").into()
}

/// Bytes that are not a request, or a request that cannot be served: five kinds in turn.
pub fn malformed(sender: &Sender<'_>, number: u64) -> Vec<u8> {
    match number.rem_euclid(5) {
        0 => sender.post("/public/v1/auth/login", "{\"client_id\":"),
        1 => format!("{}\r\n", sender.head("GET /nowhere")).into(),
        2 => format!("{}A: a bare line feed\n\r\n", sender.head("GET /public/v1/accounts")).into(),
        3 => {
            format!("{}Authorization: a\r\nAuthorization: b\r\n\r\n", sender.head("GET /public/v1/accounts"))
                .into()
        }
        _fourth => format!("{}A: {}\r\n\r\n", sender.head("GET /"), "x".repeat(20_000)).into(),
    }
}

fn set(body: &mut Value, field: &str, value: String) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}

/// A secret of the same length and alphabet. The ending is so long that it never equals the real one by chance.
fn wrong(secret: &str, number: u64) -> String {
    let ending = format!("{number:_>16}");
    let kept = secret.len().saturating_sub(ending.len());
    secret.chars().take(kept).chain(ending.chars()).collect()
}
