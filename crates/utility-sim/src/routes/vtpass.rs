//! The endpoints of the aggregator of electricity.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder, Scope,
    http::StatusCode,
    web::{self, Bytes, Data, post},
};

use super::{
    delivery::{Wire, deliver},
    queue::answered,
};
use crate::{
    vtpass::{Ask, Keys, Message, Order, Reply, Request, Verification, render, request_id},
    world::World,
};

/// The interface.
pub(super) fn api() -> Scope {
    web::scope("/vtpass/api")
        .route("/merchant-verify", post().to(verify))
        .route("/pay", post().to(pay))
        .route("/requery", post().to(requery))
}

async fn verify(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    served(&world, &http, Verification::read(&body).map_or_else(Ask::Unreadable, Ask::Verify)).await
}

async fn pay(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let order = Order::read(&body, world.agent.currency());
    served(&world, &http, order.map_or_else(Ask::Unreadable, Ask::Pay)).await
}

async fn requery(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let id = request_id(&body);
    served(&world, &http, id.map_or_else(Ask::Unreadable, |request_id| Ask::Requery { request_id })).await
}

async fn served(world: &World, http: &HttpRequest, ask: Ask) -> HttpResponse {
    let header =
        |name: &str| http.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let keys = header("api-key").zip(header("secret-key"));
    let keys = keys.map(|(api_key, secret_key)| Keys { api_key, secret_key });
    let request = Request { keys, ask };
    let scripted = world.agent.scripted(&world.script, &request);
    let agent = Arc::clone(&world.agent);
    let answer = answered(scripted, move |scripted| agent.answer(&request, scripted)).await;
    deliver(&Json, &world.agent_swap, answer).await
}

/// The wire format for all clients.
struct Json;

impl Wire<Message> for Json {
    const CONTENT_TYPE: &'static str = "application/json";
    const GARBAGE: &'static str = "{\"code\": <<< not JSON";

    /// The vendor answers refusals with the status of a success.
    fn status(&self, message: &Message) -> StatusCode {
        match &message.reply {
            Reply::Rejection(rejection) if rejection.is_system_error() => StatusCode::INTERNAL_SERVER_ERROR,
            Reply::Rejection(_)
            | Reply::Customer { .. }
            | Reply::NoSuchCustomer { .. }
            | Reply::Transaction(_) => StatusCode::OK,
        }
    }

    fn bytes(&self, message: &Message) -> Vec<u8> {
        render(message)
    }

    fn send(&self, mut response: HttpResponseBuilder, bytes: Vec<u8>) -> HttpResponse {
        response.body(bytes)
    }
}
