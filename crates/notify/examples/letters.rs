//! Sends one message of each kind through real gateways and prints what it sent. `scripts/interop` compares that with
//! what arrived.
//!
//! `letters <sendsms URL> <user> <password> <mail server's port>`. The mail server is `localhost`. It offers STARTTLS
//! and knows the same user.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool of the tests: it prints what it did, and panics on an error"
)]

use chrono::Utc;
use chrono_tz::Tz;
use messages::Messages;
use meter_token::TokenSet;
use notify::{
    Composer, EmailSettings, Gateways, Letter, MailSecurity, NotifySettings, SmsSettings, SmsText,
    Undelivered,
};
use purchase::{Channel, Notice, NoticeKind, PurchaseId, Recipient};
use serde_json::json;
use store::{ClaimedMessage, Contents, MessageId};

#[path = "../tests/post/env.rs"]
mod env;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _already = rustls::crypto::ring::default_provider().install_default();
    let gateways = Gateways::new(&settings()).unwrap();
    for letter in letters() {
        let (gateway, text) = match letter.id.notice.channel {
            Channel::Sms => (gateways.sms.clone(), SmsText::new(&letter.text).as_str().to_owned()),
            Channel::Email => (gateways.email.clone(), letter.text.clone()),
        };
        let outcome = match gateway.unwrap().send(&letter).await {
            Ok(()) => "sent".to_owned(),
            Err(Undelivered::Refused { said }) => format!("refused: {said}"),
            Err(Undelivered::Later { said }) => format!("later: {said}"),
        };
        let report = json!({
            "id": letter.id.to_string(), "to": letter.to, "subject": letter.subject, "text": text, "outcome": outcome,
        });
        println!("{report}");
    }
}

fn settings() -> NotifySettings {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, username, password, port]: [String; 4] = arguments.try_into().unwrap();
    let sms = SmsSettings {
        url: url.parse().unwrap(),
        username: username.clone(),
        password: password.clone().into(),
        from: "VENDGATE".into(),
        number_prefix: "+".into(),
        timeout_ms: 10_000,
    };
    let email = EmailSettings {
        host: "localhost".into(),
        port: Some(port.parse().unwrap()),
        security: MailSecurity::StartTls,
        username: Some(username),
        password: Some(password.into()),
        from: "Vendgate <receipts@operator.example>".parse().unwrap(),
        timeout_ms: 10_000,
    };
    NotifySettings { sms: Some(sms), email: Some(email), ..NotifySettings::default() }
}

/// A token in each language, a key change in two parts, a text in another script, a receipt by e-mail, and a message to
/// an invalid number.
fn letters() -> Vec<Letter> {
    let token = Notice { kind: NoticeKind::Issued, recipient: Recipient::Beneficiary, channel: Channel::Sms };
    let receipt = Notice { recipient: Recipient::Requester, channel: Channel::Email, ..token };
    let plain = ["en", "fr", "pt"].map(|language| (token, in_language(language)));
    let mut key_change = in_language("fr");
    key_change.record.success.as_mut().unwrap().tokens = Some(TokenSet::parse(env::KEY_CHANGE).unwrap());
    let mut other_script = in_language("en");
    other_script.product_names = vec![("en".into(), "ኤሌክትሪክ".into())];
    let mut nowhere = in_language("en");
    nowhere.record.beneficiary_phone_number = "nowhere".into();
    let others = [(token, key_change), (token, other_script), (receipt, in_language("pt")), (token, nowhere)];
    (1..)
        .zip(plain.into_iter().chain(others))
        .map(|(id, (notice, contents))| compose(id, notice, &contents))
        .collect()
}

fn in_language(language: &str) -> Contents {
    let mut contents = env::contents();
    contents.record.language = language.into();
    contents
}

fn compose(id: i64, notice: Notice, contents: &Contents) -> Letter {
    let at = contents.record.created_at.with_timezone(&Utc);
    let id = MessageId { purchase: PurchaseId(id), notice, repeat: 0 };
    let message = ClaimedMessage { id, attempt: 1, written_at: at, at, contents: None };
    Composer::new(Messages::new(), Tz::Africa__Gaborone).letter(&message, contents).unwrap()
}
