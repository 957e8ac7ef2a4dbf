//! The listener of the mail server: connections, lines, and mails that end with a dot.

use std::{io, sync::Arc, time::Duration};

use smtp_proto::{
    Error,
    request::receiver::{DataReceiver, RequestReceiver},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::{
    PostOffice, Reception,
    mail::{Conversation, GREETING, MAIL_MAX, Next},
};

/// The longest time without input before a connection is closed.
const SILENCE_MAX: Duration = Duration::from_mins(5);
const NOT_UNDERSTOOD: &str = "500 5.5.2 Not understood\r\n";
const TOO_LARGE: &str = "552 5.3.4 Too large\r\n";

/// Accepts mail until it is dropped. It must run in a Tokio runtime: each connection is a task of its own, which ends
/// with its client or with the runtime.
pub async fn serve(listener: TcpListener, post: Arc<PostOffice>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let post = Arc::clone(&post);
                drop(tokio::spawn(async move {
                    if let Err(why) = SmtpSession::new(stream, post).run().await {
                        tracing::debug!(%why, "an SMTP client disconnected");
                    }
                }));
            }
            // Most likely there are no file descriptors left. Others are released meanwhile.
            Err(why) => {
                tracing::warn!(%why, "SMTP connections cannot be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// One connection.
struct SmtpSession {
    stream: TcpStream,
    post: Arc<PostOffice>,
    conversation: Conversation,
    commands: RequestReceiver,
    /// The mail that is being received, if any.
    mail: Option<(DataReceiver, Vec<u8>)>,
}

/// Whether the connection stays open.
#[derive(PartialEq, Eq)]
enum Connection {
    Open,
    Closed,
}

impl SmtpSession {
    fn new(stream: TcpStream, post: Arc<PostOffice>) -> Self {
        let (conversation, commands) = (Conversation::default(), RequestReceiver::default());
        Self { stream, post, conversation, commands, mail: None }
    }

    async fn run(mut self) -> io::Result<()> {
        self.say(GREETING).await?;
        let mut buffer = vec![0; 4096];
        loop {
            let length = timeout(SILENCE_MAX, self.stream.read(&mut buffer)).await??;
            let read = buffer.get(..length).unwrap_or_default();
            if read.is_empty() || self.hears(read).await? == Connection::Closed {
                return Ok(());
            }
        }
    }

    async fn hears(&mut self, read: &[u8]) -> io::Result<Connection> {
        let mut bytes = read.iter();
        while !bytes.as_slice().is_empty() {
            let goes = match self.mail.take() {
                Some(begun) => self.hears_mail(begun, &mut bytes).await?,
                None => self.hears_command(&mut bytes).await?,
            };
            if goes == Connection::Closed {
                return Ok(Connection::Closed);
            }
        }
        Ok(Connection::Open)
    }

    async fn hears_command(&mut self, bytes: &mut std::slice::Iter<'_, u8>) -> io::Result<Connection> {
        let next = match self.commands.ingest(bytes) {
            Ok(request) => self.conversation.hears(request, &self.post),
            Err(Error::NeedsMoreData { .. }) => return Ok(Connection::Open),
            Err(Error::ResponseTooLong) => Next::Part(NOT_UNDERSTOOD),
            Err(
                Error::UnknownCommand
                | Error::InvalidSenderAddress
                | Error::InvalidRecipientAddress
                | Error::SyntaxError { .. }
                | Error::InvalidParameter { .. }
                | Error::UnsupportedParameter { .. }
                | Error::InvalidResponse { .. },
            ) => Next::Say(NOT_UNDERSTOOD),
        };
        match next {
            Next::Say(answer) => self.say(answer).await?,
            Next::Listen(answer) => {
                self.mail = Some((DataReceiver::new(), Vec::new()));
                self.say(answer).await?;
            }
            Next::Part(answer) => {
                self.say(answer).await?;
                return Ok(Connection::Closed);
            }
        }
        Ok(Connection::Open)
    }

    async fn hears_mail(
        &mut self,
        (mut receiver, mut mail): (DataReceiver, Vec<u8>),
        bytes: &mut std::slice::Iter<'_, u8>,
    ) -> io::Result<Connection> {
        let whole = receiver.ingest(bytes, &mut mail);
        if mail.len() > MAIL_MAX {
            self.say(TOO_LARGE).await?;
            return Ok(Connection::Closed);
        }
        if !whole {
            self.mail = Some((receiver, mail));
            return Ok(Connection::Open);
        }
        let (reception, answer) = self.conversation.takes(&mail, &self.post);
        match reception {
            Reception::TakenUnsaid | Reception::Unheard => return Ok(Connection::Closed),
            Reception::TakenLate(delay) => tokio::time::sleep(delay).await,
            Reception::Taken | Reception::RefusedForNow | Reception::RefusedForGood => {}
        }
        self.say(answer).await?;
        Ok(Connection::Open)
    }

    async fn say(&mut self, answer: &str) -> io::Result<()> {
        self.stream.write_all(answer.as_bytes()).await
    }
}
