//! Sends spans to the receiver, on a thread of its own: nothing that it does or waits for delays a purchase.

use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;
use std::{io, process};

use clock::SharedClock;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, StatusCode, redirect, retry};
use rustls::crypto::CryptoProvider;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use url::Url;

use crate::measures::{self, Dropped};
use crate::otlp::{self, Service};
use crate::span::Span;
use crate::{TraceSettings, Traces};

/// How many spans wait at most. More are dropped and counted.
const QUEUE_MAX: usize = 4_096;

/// How many spans are sent at once at most.
const BATCH_MAX: usize = 512;

/// How long the first span of a batch waits for others. What a process has not sent is lost if it is killed.
const SOON: Duration = Duration::from_millis(200);

/// How long the receiver has to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// The pauses between the tries of one batch.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// How long the end of the process waits for the last spans to be sent.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Sends the spans of this process until it is told to finish.
#[derive(Debug)]
pub struct Exporter(Option<Running>);

#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<()>,
    has_ended: blocking::Receiver<()>,
}

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The process has not installed a rustls crypto provider.
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    /// The client cannot be built.
    #[error("the HTTP client for traces cannot be built")]
    Client(#[source] reqwest::Error),
    /// The thread cannot be started.
    #[error("the thread for traces cannot be started")]
    Thread(#[source] io::Error),
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    /// The same spans would be refused again.
    Refused,
    /// Another try may succeed.
    ComeAgain,
}

struct Sender {
    client: Client,
    endpoint: Url,
    service: Service,
    /// Whether the last batch was not accepted, so that only the first of many is logged.
    is_in_trouble: bool,
}

impl Traces {
    /// Starts to send the traces of this process, if an endpoint is set. `service` is the name of the program.
    ///
    /// # Errors
    /// When the client or the thread cannot be made.
    pub fn start(
        settings: &TraceSettings,
        service: &'static str,
        clock: SharedClock,
    ) -> Result<(Self, Exporter), StartError> {
        let Some(endpoint) = settings.endpoint.clone() else { return Ok((Self::off(), Exporter(None))) };
        let service = Service { name: service, process: process::id() };
        let sender = Sender { client: client(&endpoint)?, endpoint, service, is_in_trouble: false };
        let (queue, spans) = mpsc::channel(QUEUE_MAX);
        let (stop, stops) = oneshot::channel();
        let (ended, has_ended) = blocking::sync_channel(1);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let work = move || {
            runtime.block_on(sender.run(spans, stops));
            // The process may not wait for it any more.
            let _gone = ended.send(());
        };
        thread::Builder::new().name("traces".to_owned()).spawn(work).map_err(StartError::Thread)?;
        Ok((Self::to(queue, settings.one_in, clock), Exporter(Some(Running { stop, has_ended }))))
    }
}

impl Exporter {
    /// Sends what waits, for a short time at most. Blocks.
    pub fn finish(self) {
        if let Some(Running { stop, has_ended }) = self.0 {
            let _ended_before = stop.send(());
            let _too_late = has_ended.recv_timeout(ENDS_WITHIN);
        }
    }
}

impl Sender {
    /// Sends batch after batch. After `stop`, what waits is sent once.
    async fn run(mut self, mut spans: mpsc::Receiver<Span>, mut stop: oneshot::Receiver<()>) {
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                _ = &mut stop => break,
                taken = spans.recv_many(&mut batch, BATCH_MAX) => if taken == 0 { return },
            }
            let more = async {
                sleep(SOON).await;
                while batch.len() < BATCH_MAX
                    && let Ok(span) = spans.try_recv()
                {
                    batch.push(span);
                }
                self.send(&batch).await;
            };
            tokio::select! {
                _ = &mut stop => {
                    self.send_once(&batch).await;
                    break;
                }
                () = more => {}
            }
        }
        spans.close();
        let mut rest = Vec::new();
        while spans.recv_many(&mut rest, BATCH_MAX).await > 0 {
            self.send_once(&rest).await;
            rest.clear();
        }
    }

    /// Sends one batch, with pauses, until it is accepted or refused or was tried often enough.
    async fn send(&mut self, batch: &[Span]) {
        for pause in PAUSES {
            match self.post(batch).await {
                Answer::Accepted => return self.is_accepted(batch),
                Answer::Refused => return self.is_dropped(Dropped::Refused, batch),
                Answer::ComeAgain => sleep(pause).await,
            }
        }
        self.send_once(batch).await;
    }

    async fn send_once(&mut self, batch: &[Span]) {
        match self.post(batch).await {
            Answer::Accepted => self.is_accepted(batch),
            Answer::Refused => self.is_dropped(Dropped::Refused, batch),
            Answer::ComeAgain => self.is_dropped(Dropped::Unanswered, batch),
        }
    }

    /// The body of the answer is not read.
    async fn post(&self, batch: &[Span]) -> Answer {
        let Some(body) = otlp::body(self.service, batch) else { return Answer::Refused };
        let request = self.client.post(self.endpoint.clone());
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body);
        match timeout(ANSWERS_WITHIN, request.send()).await {
            Ok(Ok(answer)) if answer.status().is_success() => Answer::Accepted,
            Ok(Ok(answer)) if may_pass(answer.status()) => Answer::ComeAgain,
            Ok(Ok(_refusal)) => Answer::Refused,
            Ok(Err(_broken)) => Answer::ComeAgain,
            Err(_elapsed) => Answer::ComeAgain,
        }
    }

    fn is_accepted(&mut self, batch: &[Span]) {
        measures::sent(batch.len());
        if std::mem::take(&mut self.is_in_trouble) {
            tracing::info!("the receiver of traces accepts spans again");
        }
    }

    fn is_dropped(&mut self, why: Dropped, batch: &[Span]) {
        measures::dropped(why, batch.len());
        if !std::mem::replace(&mut self.is_in_trouble, true) {
            tracing::warn!(
                spans = batch.len(),
                "the receiver of traces did not accept spans; they are dropped"
            );
        }
    }
}

/// The statuses after which the protocol lets a client come again.
fn may_pass(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

fn client(endpoint: &Url) -> Result<Client, StartError> {
    // Without a provider, the client would panic.
    if CryptoProvider::get_default().is_none() {
        return Err(StartError::NoTlsProvider);
    }
    let mut client = Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .http1_only()
        .connect_timeout(ANSWERS_WITHIN)
        .user_agent("vendgate-traces");
    if endpoint.scheme() == "http" {
        // Reading the certificate authorities of the machine takes time and memory.
        client = client.tls_certs_only([]);
    }
    client.build().map_err(StartError::Client)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clock::{Clock, SystemClock};
    use test_kit::span_receiver::{Manner, SpanReceiver};
    use test_kit::waiting::until;

    use super::*;
    use crate::span::{Name, SpanEnd};

    fn start(receiver: &SpanReceiver) -> (Traces, Exporter) {
        // Another test may have chosen it already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let settings = TraceSettings { endpoint: Some(receiver.endpoint.parse().unwrap()), one_in: 1 };
        Traces::start(&settings, "a program", Arc::new(SystemClock)).unwrap()
    }

    #[tokio::test]
    async fn a_receiver_that_is_busy_is_asked_again_with_the_same_spans() {
        let busy = |before| Manner::Answers(if before == 0 { 503 } else { 200 });
        let receiver = SpanReceiver::open_with(busy).unwrap();
        let (traces, exporter) = start(&receiver);
        traces.of(1, "TOP/2026/03/0000000001").begin(Name::Look).end(SpanEnd::default);
        until("it is asked again", || receiver.requests().len() == 2).await;
        let requests = receiver.requests();
        assert_eq!(requests[0].body, requests[1].body);
        tokio::task::spawn_blocking(|| exporter.finish()).await.unwrap();
    }

    #[test]
    fn a_process_ends_although_its_receiver_hangs() {
        let receiver = SpanReceiver::open_with(|_before| Manner::Hangs).unwrap();
        let (traces, exporter) = start(&receiver);
        traces.of(1, "TOP/2026/03/0000000001").begin(Name::Look).end(SpanEnd::default);
        let began = SystemClock.monotonic();
        exporter.finish();
        let took = SystemClock.monotonic().elapsed_since(began);
        assert!(took < ENDS_WITHIN + Duration::from_secs(1), "{took:?}");
    }

    #[test]
    fn the_last_spans_are_sent_before_the_process_ends() {
        let receiver = SpanReceiver::open().unwrap();
        let (traces, exporter) = start(&receiver);
        traces.of(1, "TOP/2026/03/0000000001").begin(Name::Look).end(SpanEnd::default);
        exporter.finish();
        assert_eq!(receiver.requests().len(), 1);
    }
}
