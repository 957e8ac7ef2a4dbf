//! A small OpenID provider. It signs what a test wants, also what is wrong.

use std::{
    collections::HashMap,
    io::{self, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use clock::{Clock, SystemClock};
use ring::{
    digest, hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::span_receiver::{Received, read};

/// The client that the provider knows, and its secret.
pub const CLIENT_ID: &str = "vendgate-console";
/// See [`CLIENT_ID`].
pub const CLIENT_SECRET: &str = "secret-of-the-console";

/// A provider on loopback. It exists until the process ends.
#[derive(Clone)]
pub struct OpenIdProvider {
    /// How it names itself.
    pub issuer: String,
    inside: Arc<Mutex<Inside>>,
}

/// Who signs an ID token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// The newest key that the provider has made.
    Provider,
    /// A key that is not the provider's, under the id of the provider's.
    Forger,
    /// The secret of the client.
    Client,
    /// No signer: the algorithm is `none`.
    Nobody,
    /// There is no ID token.
    WithoutToken,
}

struct Inside {
    keys: Vec<EcdsaKeyPair>,
    /// How many of the keys it shows.
    keys_shown: usize,
    codes: HashMap<String, Issued>,
    asked: Vec<String>,
}

struct Issued {
    challenge: String,
    redirect: String,
    token: Option<String>,
}

impl OpenIdProvider {
    /// Opens a provider with one key.
    ///
    /// # Errors
    /// When no port on loopback can be opened.
    pub fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let issuer = format!("http://{}", listener.local_addr()?);
        let inside =
            Inside { keys: vec![new_key()], keys_shown: 1, codes: HashMap::new(), asked: Vec::new() };
        let provider = Self { issuer, inside: Arc::new(Mutex::new(inside)) };
        let served = provider.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let served = served.clone();
                // A client that is killed cuts its connection.
                thread::spawn(move || served.serve(client).is_ok());
            }
        });
        Ok(provider)
    }

    /// Makes a new key, which signs from now on.
    pub fn makes_a_key(&self) {
        self.inside().keys.push(new_key());
    }

    /// Shows all its keys.
    pub fn shows_its_keys(&self) {
        let mut inside = self.inside();
        inside.keys_shown = inside.keys.len();
    }

    /// The paths for which it was asked, in their order.
    pub fn asked(&self) -> Vec<String> {
        self.inside().asked.clone()
    }

    /// Signs a person in who came with this address. Returns the query with which the browser goes back. `change` makes other claims
    /// of the right ones.
    pub fn signs_in(
        &self,
        address: &str,
        person: &str,
        signer: Signer,
        change: impl FnOnce(&mut Value),
    ) -> String {
        let address = Url::parse(address).expect("it is an address");
        let asked: HashMap<_, _> = address.query_pairs().into_owned().collect();
        let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", CLIENT_ID),
            ("code_challenge_method", "S256"),
            ("scope", "openid"),
        ] {
            assert_eq!(field(name), value, "{name}");
        }
        let now = SystemClock.now().timestamp();
        let mut claims = json!({
            "iss": self.issuer, "sub": person, "aud": CLIENT_ID, "nonce": field("nonce"), "iat": now, "exp": now + 300,
        });
        change(&mut claims);
        let mut inside = self.inside();
        let token = (signer != Signer::WithoutToken).then(|| inside.sign(signer, &claims));
        let code = format!("code-{}-of-{person}", inside.codes.len());
        let issued = Issued { challenge: field("code_challenge"), redirect: field("redirect_uri"), token };
        inside.codes.insert(code.clone(), issued);
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("state", &field("state"))
            .append_pair("code", &code)
            .append_pair("iss", &self.issuer)
            .finish()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        loop {
            let received = read(&mut reader)?;
            let path = received.head.split(' ').nth(1).unwrap_or_default().to_owned();
            let (status, body) = self.answer(&path, &received);
            let body = body.to_string();
            let length = body.len();
            write!(
                client,
                "HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            )?;
        }
    }

    fn answer(&self, path: &str, received: &Received) -> (u16, Value) {
        let mut inside = self.inside();
        inside.asked.push(path.to_owned());
        match path {
            "/.well-known/openid-configuration" => (200, self.description()),
            "/keys" => (200, json!({ "keys": inside.jwks() })),
            "/token" => inside.exchange(received),
            _ => (404, json!({})),
        }
    }

    fn description(&self) -> Value {
        let issuer = &self.issuer;
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
        })
    }
}

impl Inside {
    fn sign(&self, signer: Signer, claims: &Value) -> String {
        let id = self.keys.len().to_string();
        let algorithm = match signer {
            Signer::Provider | Signer::Forger | Signer::WithoutToken => "ES256",
            Signer::Client => "HS256",
            Signer::Nobody => "none",
        };
        let header = json!({ "alg": algorithm, "kid": id, "typ": "JWT" });
        let content = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let by = |key: &EcdsaKeyPair| {
            let signature = key.sign(&SystemRandom::new(), content.as_bytes()).expect("a key signs");
            signature.as_ref().to_vec()
        };
        let signature = match signer {
            Signer::Provider | Signer::WithoutToken => self.keys.last().map(by).unwrap_or_default(),
            Signer::Forger => by(&new_key()),
            Signer::Client => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, CLIENT_SECRET.as_bytes());
                hmac::sign(&key, content.as_bytes()).as_ref().to_vec()
            }
            Signer::Nobody => Vec::new(),
        };
        format!("{content}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn jwks(&self) -> Vec<Value> {
        let shown = self.keys.iter().take(self.keys_shown).zip(1..);
        shown
            .map(|(key, id): (_, u32)| {
                // The public key is the byte 4, and two numbers of 32 bytes.
                let numbers = key.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = numbers.split_at_checked(32).unwrap_or_default();
                let [x, y] = [x, y].map(|number| URL_SAFE_NO_PAD.encode(number));
                json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": id.to_string(), "x": x, "y": y })
            })
            .collect()
    }

    /// A code once, for the client that knows its own secret and that of the code.
    fn exchange(&mut self, received: &Received) -> (u16, Value) {
        let known = format!("Basic {}", STANDARD.encode(format!("{CLIENT_ID}:{CLIENT_SECRET}")));
        let mut lines = received.head.lines().filter_map(|line| line.split_once(": "));
        let is_client =
            lines.any(|(name, value)| name.eq_ignore_ascii_case("authorization") && value == known);
        if !is_client {
            return (401, json!({ "error": "invalid_client" }));
        }
        let fields: HashMap<_, _> = form_urlencoded::parse(&received.body).into_owned().collect();
        let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
        let proof = digest::digest(&digest::SHA256, field("code_verifier").as_bytes());
        let proof = URL_SAFE_NO_PAD.encode(proof);
        let issued = self.codes.remove(field("code"));
        match issued.filter(|issued| issued.challenge == proof && issued.redirect == field("redirect_uri")) {
            Some(Issued { token, .. }) => {
                let answer = json!({ "access_token": "access-token-of-a-test", "token_type": "Bearer", "id_token": token });
                (200, answer)
            }
            None => (400, json!({ "error": "invalid_grant" })),
        }
    }
}

fn new_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let pkcs8 =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("there is randomness");
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random)
        .expect("it was made here")
}
