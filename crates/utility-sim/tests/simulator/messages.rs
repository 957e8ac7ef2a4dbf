//! Messages to people: the answers of the SMS gateway and of the mail server, and the received messages.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::counter::Counter;

const LOGIN: &str = "username=vendgate-messages&password=sandbox-messages-secret";
const TEMPORAL: (u16, &str) = (503, "Temporal failure, try again later.");
const ACCEPTED: (u16, &str) = (202, "0: Accepted for delivery");

/// A client that sends messages.
struct Sender {
    counter: Counter,
}

impl Sender {
    fn open() -> Self {
        Self { counter: Counter::open() }
    }

    /// Sends an SMS by its query. It is an error if there is no answer.
    async fn sms(&self, query: &str) -> reqwest::Result<(u16, String)> {
        let url = format!("{}?{query}", self.counter.simulator.sendsms_url());
        let response = self.counter.http.get(url).send().await?;
        Ok((response.status().as_u16(), response.text().await?))
    }

    async fn gets_answer(&self, query: &str, expected: (u16, &str)) {
        assert_eq!(self.sms(query).await.unwrap(), (expected.0, expected.1.to_owned()), "{query}");
    }

    async fn inbox(&self, query: &str) -> Value {
        let url = format!("{}/messages{query}", self.counter.simulator.url());
        serde_json::from_str(&self.counter.http.get(url).send().await.unwrap().text().await.unwrap()).unwrap()
    }

    async fn scripts(&self, line: &Value) {
        assert_eq!(self.counter.script(line.clone()).await, 204);
    }

    /// Sends the whole text at once, and reads until the server closes the connection.
    async fn mails(&self, said: &str) -> String {
        let address: SocketAddr = self.counter.simulator.smtp_address();
        let mut connection = TcpStream::connect(address).await.unwrap();
        connection.write_all(said.replace('\n', "\r\n").as_bytes()).await.unwrap();
        let mut answers = String::new();
        connection.read_to_string(&mut answers).await.unwrap();
        answers.replace("\r\n", "\n")
    }
}

fn mail(body: &str) -> String {
    format!(
        "EHLO till\nMAIL FROM:<vendgate@example.org>\nRCPT TO:<thandi@example.org>\nDATA\n{body}\n.\nQUIT\n"
    )
}

#[tokio::test]
async fn an_sms_arrives_as_it_was_written() {
    let sender = Sender::open();
    sender.gets_answer(&format!("{LOGIN}&to=26771000001&text=Token+1234+5678"), ACCEPTED).await;
    let coded = "to=%2B26772000002&coding=2&charset=UTF-8&text=n%C3%A3o%20perdeu";
    sender.gets_answer(&format!("{LOGIN}&{coded}"), ACCEPTED).await;
    let at = "2026-11-20T09:30:00+02:00";
    let arrived = json!([
        { "channel": "sms", "to": "26771000001", "text": "Token 1234 5678", "at": at },
        { "channel": "sms", "to": "+26772000002", "text": "não perdeu", "at": at },
    ]);
    assert_eq!(sender.inbox("").await, arrived);
    assert_eq!(sender.inbox("?to=26771000001").await, json!([arrived[0]]));
}

#[tokio::test]
async fn an_sms_may_be_posted_as_plain_text_and_not_as_a_form() {
    let sender = Sender::open();
    let posts = async |content_type: &str, password: &str, coding: &str, body: &str| {
        let request = sender.counter.http.post(sender.counter.simulator.sendsms_url());
        let request = request
            .header("content-type", content_type)
            .header("x-kannel-username", "vendgate-messages")
            .header("x-kannel-password", password)
            .header("x-kannel-to", "+26771000001")
            .header("x-kannel-coding", coding);
        let answer = request.body(body.to_owned()).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (plain, password) = ("text/plain; charset=UTF-8", "sandbox-messages-secret");
    let accepted = (202, "0: Accepted for delivery".to_owned());
    assert_eq!(posts(plain, password, "0", "não & +").await, accepted);
    assert_eq!(posts(plain, password, "2", "não & +").await, accepted);
    let anonymous = (403, "Authorization failed for sendsms".to_owned());
    assert_eq!(posts(plain, "guess", "0", "x").await, anonymous);
    let form = format!("{LOGIN}&to=26771000001&text=x");
    let no_form = (400, "Invalid content-type".to_owned());
    assert_eq!(posts("application/x-www-form-urlencoded", password, "0", &form).await, no_form);
    let arrived = sender.inbox("").await;
    let texts: Vec<&Value> = arrived.as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(texts, ["n?o & +", "não & +"]);
}

#[tokio::test]
async fn the_gateway_refuses_a_wrong_password_and_stores_no_refused_message() {
    let sender = Sender::open();
    let anonymous = (403, "Authorization failed for sendsms");
    sender.gets_answer("username=vendgate-messages&password=guess&to=26771000001&text=x", anonymous).await;
    sender.gets_answer("to=26771000001&text=x", anonymous).await;
    sender.gets_answer(&format!("{LOGIN}&text=x"), (400, "Missing receiver(s) number(s), rejected")).await;
    let misformed = (400, "Charset or body misformed, rejected");
    sender.gets_answer(&format!("{LOGIN}&to=26771000001&coding=2&text=x"), misformed).await;
    assert_eq!(sender.inbox("").await, json!([]));
}

#[tokio::test]
async fn a_script_refuses_messages_for_now_for_good_or_takes_them_without_a_word() {
    let sender = Sender::open();
    let sms = format!("{LOGIN}&to=26771000001&text=x");
    sender.scripts(&json!({ "operation": "sms", "fault": "busy", "subscriber": "26771000001" })).await;
    sender.gets_answer(&format!("{LOGIN}&to=26772000002&text=another"), ACCEPTED).await;
    sender.gets_answer(&sms, TEMPORAL).await;
    sender.scripts(&json!({ "operation": "sms", "fault": "refuse", "exception": "permanent" })).await;
    sender.gets_answer(&sms, (403, "Number(s) has/have been denied by white- and/or black-lists.")).await;
    assert_eq!(sender.inbox("?to=26771000001").await, json!([]));

    sender.scripts(&json!({ "operation": "sms", "fault": "drop_before" })).await;
    sender.sms(&sms).await.unwrap_err();
    assert_eq!(sender.inbox("?to=26771000001").await, json!([]));
    sender.scripts(&json!({ "operation": "sms", "fault": "drop_after" })).await;
    sender.sms(&sms).await.unwrap_err();
    assert_eq!(sender.inbox("?to=26771000001").await[0]["text"], "x");
    sender.gets_answer(&sms, ACCEPTED).await;
}

#[tokio::test]
async fn a_script_for_any_seller_does_not_affect_messages() {
    let sender = Sender::open();
    sender.scripts(&json!({ "operation": "any", "fault": "drop_before", "times": 5 })).await;
    sender.gets_answer(&format!("{LOGIN}&to=26771000001&text=x"), ACCEPTED).await;
}

#[tokio::test]
async fn a_mail_is_read_out_of_its_envelope() {
    let sender = Sender::open();
    let body = "From: Vendgate <vendgate@example.org>\nTo: thandi@example.org\nSubject: =?utf-8?Q?N=C3=A3o?=\n\
                MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
                Content-Transfer-Encoding: quoted-printable\n\nVoc=C3=AA tem\n..25 kWh";
    let answers = sender.mails(&mail(body)).await;
    let expected = "220 simulator ESMTP\n250-simulator\n250-8BITMIME\n250-SIZE 1048576\n250 AUTH PLAIN\n\
                    250 2.0.0 OK\n250 2.0.0 OK\n354 End with a dot on a line of its own\n250 2.0.0 OK\n221 2.0.0 Bye\n";
    assert_eq!(answers, expected);
    let arrived = sender.inbox("?to=thandi@example.org").await;
    assert_eq!(arrived[0]["channel"], "email");
    assert_eq!((&arrived[0]["subject"], &arrived[0]["text"]), (&json!("Não"), &json!("Você tem\r\n.25 kWh")));
}

#[tokio::test]
async fn commands_out_of_turn_are_refused_and_wrong_passwords_too() {
    let sender = Sender::open();
    let answers = sender.mails("MAIL FROM:<a@b.c>\nHELO x\nRCPT TO:<a@b.c>\nDATA\nBREW coffee\nQUIT\n").await;
    let codes: Vec<&str> = answers.lines().filter_map(|line| line.get(..3)).collect();
    assert_eq!(codes, ["220", "503", "250", "503", "503", "500", "221"]);
    let login = |password: &str| {
        use base64::{Engine, engine::general_purpose::STANDARD};
        format!("AUTH PLAIN {}\n", STANDARD.encode(format!("\0vendgate-messages\0{password}")))
    };
    let said = format!("EHLO x\n{}{}QUIT\n", login("guess"), login("sandbox-messages-secret"));
    let answers = sender.mails(&said).await;
    assert!(answers.contains("535 5.7.8") && answers.contains("235 2.7.0"), "{answers}");
}

#[tokio::test]
async fn a_script_refuses_mail_for_now_or_takes_it_without_a_word() {
    let sender = Sender::open();
    let body = mail("Subject: A\n\nfirst");
    sender.scripts(&json!({ "operation": "mail", "fault": "busy" })).await;
    assert!(sender.mails(&body).await.contains("\n451 4.3.0 Try again later\n"));
    assert_eq!(sender.inbox("").await, json!([]));
    sender.scripts(&json!({ "operation": "mail", "fault": "drop_after" })).await;
    assert!(sender.mails(&body).await.ends_with("354 End with a dot on a line of its own\n"));
    assert_eq!(sender.inbox("").await[0]["text"], "first");
}

#[tokio::test]
async fn a_mail_that_never_ends_is_not_read_for_ever() {
    let sender = Sender::open();
    let mut connection = TcpStream::connect(sender.counter.simulator.smtp_address()).await.unwrap();
    let endless = mail(&"x".repeat(2_000_000)).replace('\n', "\r\n");
    // The server closes the connection while the client still sends, so the last answer may be lost.
    let _cut_short = connection.write_all(endless.as_bytes()).await;
    let mut answers = Vec::new();
    let _cut_short = connection.read_to_end(&mut answers).await;
    assert!(!String::from_utf8(answers).unwrap().contains("221"), "the whole mail was read");
    assert_eq!(sender.inbox("").await, json!([]));
}
