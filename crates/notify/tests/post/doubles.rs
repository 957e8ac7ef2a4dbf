//! Test gateways: one in memory, and servers whose replies the test chooses.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use notify::{Gateway, Letter, Undelivered};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What an inbox does with the next message.
#[derive(Clone, Copy, Debug)]
pub enum Mood {
    /// Accepts it.
    Takes,
    /// Accepts it and never answers.
    AcceptsAndHangs,
    /// Refuses it for good.
    Refuses,
    /// Refuses it for now.
    IsBusy,
}

/// A gateway that stores what it receives.
#[derive(Clone, Default)]
pub struct Inbox {
    letters: Arc<Mutex<Vec<Letter>>>,
    moods: Arc<Mutex<VecDeque<Mood>>>,
}

impl Inbox {
    /// An inbox with these reactions in turn, which then accepts everything.
    pub fn that(moods: impl IntoIterator<Item = Mood>) -> Self {
        Self { letters: Arc::default(), moods: Arc::new(Mutex::new(moods.into_iter().collect())) }
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap().clone()
    }

    /// The ids of the stored messages, ordered by purchase.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.letters().iter().map(|letter| letter.id).collect();
        names.sort_unstable();
        names.iter().map(ToString::to_string).collect()
    }
}

#[async_trait]
impl Gateway for Inbox {
    async fn send(&self, letter: &Letter) -> Result<(), Undelivered> {
        let mood = self.moods.lock().unwrap().pop_front().unwrap_or(Mood::Takes);
        let said = "busy".to_owned();
        match mood {
            Mood::Refuses => return Err(Undelivered::Refused { said }),
            Mood::IsBusy => return Err(Undelivered::Later { said }),
            Mood::Takes | Mood::AcceptsAndHangs => {}
        }
        self.letters.lock().unwrap().push(letter.clone());
        if matches!(mood, Mood::AcceptsAndHangs) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Inbox")
    }
}

/// A server on loopback that records what it receives.
pub struct Server {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Answers each HTTP request, head and body, with the next of these texts. It does not answer the requests after
    /// the last text.
    pub async fn http(answers: &[&str]) -> Self {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        Self::serve(move |stream, heard| {
            let answers = answers.clone();
            async move {
                let mut stream = stream;
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(stream.read_u8().await.unwrap());
                }
                let mut body = vec![0; announced_length(&request)];
                stream.read_exact(&mut body).await.unwrap();
                request.append(&mut body);
                let number = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(String::from_utf8(request).unwrap());
                    heard.len() - 1
                };
                match answers.get(number) {
                    Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                    None => std::future::pending().await,
                }
            }
        })
        .await
    }

    /// A mail server that gives these replies to the recipient and to the message.
    pub async fn smtp(to_recipient: &'static str, to_message: &'static str) -> Self {
        Self::serve(move |stream, heard| async move {
            let mut stream = BufReader::new(stream);
            stream.write_all(b"220 mail.example ESMTP\r\n").await.unwrap();
            let mut is_text = false;
            let mut line = String::new();
            while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
                let said = std::mem::take(&mut line);
                let reply = match said.split([' ', ':', '\r']).next().unwrap() {
                    "." if is_text => Some(to_message),
                    _ if is_text => None,
                    "EHLO" => Some("250 mail.example"),
                    "RCPT" => Some(to_recipient),
                    "DATA" => Some("354 go on"),
                    "QUIT" => Some("221 bye"),
                    _ => Some("250 ok"),
                };
                is_text = reply == Some("354 go on") || (is_text && reply.is_none());
                heard.lock().unwrap().push(said.trim_end().to_owned());
                if let Some(reply) = reply {
                    stream.write_all(format!("{reply}\r\n").as_bytes()).await.unwrap();
                }
            }
        })
        .await
    }

    async fn serve<Work>(answer: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> Work + Send + 'static) -> Self
    where
        Work: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let kept = heard.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, kept.clone()));
            }
        });
        Self { address, heard }
    }
}

fn announced_length(head: &[u8]) -> usize {
    let head = str::from_utf8(head).unwrap().to_ascii_lowercase();
    head.lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap())
}
