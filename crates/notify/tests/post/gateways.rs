//! The real senders against test servers: what is sent on the wire, and how each answer is treated.

use chrono::{TimeZone, Utc};
use notify::{
    EmailSettings, Gateway, Gateways, Kannel, Letter, MailSecurity, NotifySettings, SmsSettings, Smtp,
    Undelivered,
};
use purchase::{Channel, Notice, NoticeKind, PurchaseId, Recipient};
use reqwest::Url;
use store::MessageId;
use test_kit::log::Log;
use tracing::Level;

use crate::doubles::{Inbox, Server};
use crate::outbox::Outbox;

const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 24\r\n\r\n0: Accepted for delivery";

fn sms_settings(server: &Server) -> SmsSettings {
    SmsSettings {
        url: Url::parse(&format!("http://{}/cgi-bin/sendsms", server.address)).unwrap(),
        username: "vendgate".into(),
        password: "s3cret".into(),
        from: "VENDGATE".into(),
        number_prefix: "+".into(),
        timeout_ms: 300,
    }
}

fn email_settings(server: &Server) -> EmailSettings {
    EmailSettings {
        host: server.address.ip().to_string(),
        port: Some(server.address.port()),
        security: MailSecurity::None,
        username: None,
        password: None,
        from: "Vendgate <receipts@operator.example>".parse().unwrap(),
        timeout_ms: 5_000,
    }
}

fn kannel(server: &Server) -> Kannel {
    use_ring();
    Kannel::new(&sms_settings(server)).unwrap()
}

fn use_ring() {
    let _already = rustls::crypto::ring::default_provider().install_default();
}

fn letter(channel: Channel, to: &str, text: &str) -> Letter {
    let notice = Notice { kind: NoticeKind::Issued, recipient: Recipient::Requester, channel };
    Letter {
        id: MessageId { purchase: PurchaseId(42), notice, repeat: 0 },
        to: to.into(),
        subject: "Reçu : Électricité".into(),
        text: text.into(),
        written_at: Utc.with_ymd_and_hms(2026, 11, 20, 17, 6, 49).unwrap(),
    }
}

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The result of a send that is answered with `reply`.
async fn verdict(reply: &str) -> Result<(), Undelivered> {
    let server = Server::http(&[reply]).await;
    kannel(&server).send(&letter(Channel::Sms, "26771234567", "Token: 1234")).await
}

#[tokio::test]
async fn a_text_message_is_posted_as_kannel_documents_it() {
    let server = Server::http(&[ACCEPTED, ACCEPTED]).await;
    let kannel = kannel(&server);
    for (text, sent, coding) in [
        ("Código: 1234 5678\nção", "Codigo: 1234 5678\ncao", "0"),
        ("Électricité 电力: 1234 5678", "Électricité 电力: 1234 5678", "2"),
    ] {
        kannel.send(&letter(Channel::Sms, "26771234567", text)).await.unwrap();
        let request = server.heard().pop().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut head = head.lines();
        assert_eq!(head.next(), Some("POST /cgi-bin/sendsms HTTP/1.1"), "the URL has no parameters");
        let head: Vec<&str> = head.collect();
        for field in [
            "content-type: text/plain; charset=UTF-8",
            "x-kannel-username: vendgate",
            "x-kannel-password: s3cret",
            "x-kannel-from: VENDGATE",
            "x-kannel-to: +26771234567",
            &format!("x-kannel-coding: {coding}"),
            "x-kannel-account: 42.issued.requester.sms",
        ] {
            assert!(head.contains(&field), "{field} in {head:#?}");
        }
        assert_eq!(body, sent);
    }
}

#[tokio::test]
async fn a_setting_that_no_head_can_carry_is_named() {
    let server = Server::http(&[]).await;
    use_ring();
    let settings = SmsSettings { password: "two\nlines".into(), ..sms_settings(&server) };
    let refused = Kannel::new(&settings).unwrap_err().to_string();
    assert_eq!(refused, "notify.sms.password has a control character, and cannot be sent to Kannel");
}

#[tokio::test]
async fn kannels_answers_mean_what_its_user_guide_says() {
    for accepted in ["0: Accepted for delivery", "3: Queued for later delivery", "Sent."] {
        assert_eq!(verdict(&answer("202 Accepted", accepted)).await, Ok(()));
    }
    for status in ["400 Bad Request", "403 Forbidden"] {
        let said = status[..3].to_owned();
        let denied = answer(status, "Number(s) has/have been denied by white- and/or black-lists.");
        assert_eq!(verdict(&denied).await, Err(Undelivered::Refused { said }));
    }
    for (status, body) in [
        ("403 Forbidden", "Authorization failed for sendsms"),
        ("400 Bad Request", "Sender missing and no global set, rejected"),
        ("400 Bad Request", "Account field misformed or too long, rejected"),
        ("400 Bad Request", "Coding field misformed, rejected"),
        ("400 Bad Request", "Illegal characters in 'to' string ('*26771234567') vs '0123456789 +-'"),
        ("400 Bad Request", ""),
        ("403 Forbidden", "a proxy's page"),
        ("404 Not Found", ""),
        ("503 Service Unavailable", "Temporal failure, try again later."),
        ("500 Internal Server Error", ""),
        ("200 OK", "a login page"),
        ("302 Found", ""),
    ] {
        let said = status[..3].to_owned();
        assert_eq!(verdict(&answer(status, body)).await, Err(Undelivered::Later { said }));
    }
}

#[tokio::test]
async fn a_gateway_that_is_away_silent_or_breaks_off_is_tried_again() {
    let later = |said: &str| Err(Undelivered::Later { said: said.to_owned() });
    let silent = Server::http(&[]).await;
    let sms = letter(Channel::Sms, "26771234567", "Token: 1234");
    assert_eq!(kannel(&silent).send(&sms).await, later("no answer in time"));
    assert_eq!(verdict("HTTP/1.1 2").await, later("the connection broke"));
    let mut away = sms_settings(&silent);
    away.url.set_port(Some(1)).unwrap();
    assert_eq!(Kannel::new(&away).unwrap().send(&sms).await, later("no connection"));
}

#[tokio::test]
async fn an_email_has_the_same_name_in_every_repeat() {
    let server = Server::smtp("250 ok", "250 queued").await;
    let smtp = Smtp::new(&email_settings(&server)).unwrap();
    let email = letter(Channel::Email, "till@shop.example", "Reçu : Électricité\n\nPayé : BWP 101.50\n");
    for _ in 0..2 {
        smtp.send(&email).await.unwrap();
    }
    let heard = server.heard();
    for line in [
        "MAIL FROM:<receipts@operator.example>",
        "RCPT TO:<till@shop.example>",
        "Message-ID: <42.issued.requester.email@operator.example>",
        "Date: Fri, 20 Nov 2026 17:06:49 +0000",
        "Auto-Submitted: auto-generated",
        "From: Vendgate <receipts@operator.example>",
        "To: till@shop.example",
        "Content-Type: text/plain; charset=utf-8",
        "Pay=C3=A9 : BWP 101.50",
    ] {
        let times = heard.iter().filter(|said| *said == line).count();
        assert_eq!(times, 2, "{line} in {heard:#?}");
    }
}

#[tokio::test]
async fn a_mailbox_that_is_not_there_is_given_up_and_other_troubles_are_not() {
    for (to_recipient, to_message, expected) in [
        ("250 ok", "250 ok", Ok(())),
        ("550 5.1.1 no such user", "", Err(Undelivered::Refused { said: "550 5.1.1".into() })),
        ("553 5.1.3 bad name", "", Err(Undelivered::Refused { said: "553 5.1.3".into() })),
        ("556 5.1.10 takes no mail", "", Err(Undelivered::Refused { said: "556 5.1.10".into() })),
        ("250 ok", "550 5.1.1 no such user", Err(Undelivered::Refused { said: "550 5.1.1".into() })),
        ("550 no such user", "", Err(Undelivered::Later { said: "550".into() })),
        ("550 5.7.1 relaying denied", "", Err(Undelivered::Later { said: "550".into() })),
        ("553 5.7.1 sender not owned", "", Err(Undelivered::Later { said: "553".into() })),
        ("550 5.1.8 sender's domain not found", "", Err(Undelivered::Later { said: "550".into() })),
        ("550 5.1.11 nobody knows", "", Err(Undelivered::Later { said: "550".into() })),
        ("450 5.1.1 of two minds", "", Err(Undelivered::Later { said: "450".into() })),
        ("450 mailbox busy", "", Err(Undelivered::Later { said: "450".into() })),
        ("530 authentication required", "", Err(Undelivered::Later { said: "530".into() })),
        ("250 ok", "452 disk full", Err(Undelivered::Later { said: "452".into() })),
        ("250 ok", "554 looks like spam", Err(Undelivered::Later { said: "554".into() })),
    ] {
        let server = Server::smtp(to_recipient, to_message).await;
        let smtp = Smtp::new(&email_settings(&server)).unwrap();
        let outcome = smtp.send(&letter(Channel::Email, "till@shop.example", "text")).await;
        assert_eq!(outcome, expected, "{to_recipient}, {to_message}");
    }
    let server = Server::smtp("250 ok", "250 ok").await;
    let smtp = Smtp::new(&email_settings(&server)).unwrap();
    let nowhere = smtp.send(&letter(Channel::Email, "till at shop", "text")).await;
    assert_eq!(nowhere, Err(Undelivered::Refused { said: "not an address".into() }));
}

#[tokio::test]
async fn a_mail_server_that_does_not_offer_tls_gets_no_mail_unless_that_is_allowed() {
    let server = Server::smtp("250 ok", "250 ok").await;
    let settings = EmailSettings { security: MailSecurity::StartTls, ..email_settings(&server) };
    let outcome =
        Smtp::new(&settings).unwrap().send(&letter(Channel::Email, "till@shop.example", "text")).await;
    assert!(matches!(outcome, Err(Undelivered::Later { .. })), "{outcome:?}");
    assert!(!server.heard().iter().any(|said| said.starts_with("RCPT")));
}

#[tokio::test]
async fn a_worker_says_when_it_begins_which_channel_is_off() {
    let (log, _logging) = Log::of_this_thread(Level::WARN);
    let outbox = Outbox::open().await;
    let notifier = outbox.notifier(Some(&Inbox::default()), None, NotifySettings::default());
    notifier.run(async {}).await;
    let written = log.text();
    assert_eq!(written.matches("no gateway is set up").count(), 1, "{written}");
    assert!(written.contains("WARN") && written.contains("EMAIL") && !written.contains("SMS"), "{written}");
}

#[tokio::test]
async fn no_failure_logs_a_token_a_number_an_address_or_a_password() {
    let (log, _logging) = Log::of_this_thread(Level::TRACE);
    use_ring();

    let outbox = Outbox::open().await;
    let denied = "Number(s) has/have been denied by white- and/or black-lists: +26771230002";
    let forbidden = answer("400 Bad Request", denied);
    let busy = answer("503 Service Unavailable", "+26771230001");
    let sms = Server::http(&[&forbidden, &busy, "HTTP/1.1 2"]).await;
    let email = Server::smtp("550 5.1.1 no such user till@shop.example", "").await;
    let settings = NotifySettings {
        sms: Some(sms_settings(&sms)),
        email: Some(email_settings(&email)),
        ..NotifySettings::default()
    };
    outbox.owes(1..5, &[("BENEFICIARY", "SMS"), ("REQUESTER", "EMAIL")]);
    let gateways = Gateways::new(&settings).unwrap();
    let notifier = outbox.notifier_through(gateways, settings.clone());
    let delivered = notifier.deliver_due().await.unwrap();
    assert_eq!((delivered.sent, delivered.later, delivered.given_up), (0, 3, 5));

    let written = log.text() + &format!("{settings:?} {notifier:?}");
    assert!(written.contains("1.issued.beneficiary.sms"), "{written}");
    for secret in ["s3cret", "2677123", "till@shop", "1234 5678", "12345678", "1234+5678", "1234%205678"] {
        assert!(!written.contains(secret), "{secret} is in the log:\n{written}");
    }
}
