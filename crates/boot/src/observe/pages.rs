//! The paths that the monitoring listener serves: `/metrics`, `/healthz`, `/readyz`. Any other is 404.

use std::{
    io,
    net::TcpListener,
    sync::{Arc, mpsc::SyncSender},
    time::Duration,
};

use actix_web::{
    App, HttpResponse, HttpServer,
    dev::ServerHandle,
    http::header::{CACHE_CONTROL, ContentType},
    rt,
    web::{Data, get},
};
use chrono::SecondsFormat;
use serde_json::json;

use super::readiness::{Readiness, Standing};
use crate::Metrics;

/// The interval at which the recorded samples are sorted into buckets.
const SORTING: Duration = Duration::from_secs(5);

/// Serves until the handle, which is passed on through `started`, is stopped.
pub(super) fn serve(
    listener: TcpListener,
    readiness: Arc<Readiness>,
    metrics: Metrics,
    started: &SyncSender<io::Result<ServerHandle>>,
) {
    rt::System::new().block_on(async move {
        let sorted = metrics.clone();
        rt::spawn(async move {
            loop {
                tokio::time::sleep(SORTING).await;
                sorted.sort();
            }
        });
        let (readiness, metrics) = (Data::from(readiness), Data::new(metrics));
        let app = move || {
            App::new()
                .app_data(readiness.clone())
                .app_data(metrics.clone())
                .route("/metrics", get().to(counted))
                .route("/healthz", get().to(alive))
                .route("/readyz", get().to(ready))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(1).listen(listener);
        let reported = match server {
            Ok(server) => {
                let server = server.run();
                let reported = started.send(Ok(server.handle()));
                if let Err(error) = server.await {
                    let cause: &dyn std::error::Error = &error;
                    tracing::error!(cause, "the monitoring listener stopped");
                }
                reported
            }
            Err(error) => started.send(Err(error)),
        };
        // The receiver may already be dropped.
        drop(reported);
    });
}

async fn counted(metrics: Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(metrics.in_text())
}

async fn alive() -> HttpResponse {
    HttpResponse::Ok().insert_header(ContentType::plaintext()).body("alive\n")
}

async fn ready(readiness: Data<Readiness>) -> HttpResponse {
    let Standing { not_ready, since } = readiness.into_inner().standing().await;
    let since = since.to_rfc3339_opts(SecondsFormat::Millis, true);
    let (mut answer, body) = match not_ready {
        None => (HttpResponse::Ok(), json!({ "ready": true, "since": since })),
        Some(not_ready) => {
            let body = json!({ "ready": false, "why": not_ready.why, "since": since });
            (HttpResponse::ServiceUnavailable(), body)
        }
    };
    answer.insert_header((CACHE_CONTROL, "no-store")).json(body)
}
