//! The simulator's control interface: the vend log, token entry, and fault scripts.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data, Path, Query},
};
use chrono::DateTime;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sts::{Acceptance, Entry, EntryRefusal};

use crate::{memory::Habits, script::Misbehaviour, statement::statement as write_statement, world::World};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VendsQuery {
    subscriber: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatementQuery {
    product: Option<String>,
    /// RFC 3339, as is `until`.
    from: Option<String>,
    until: Option<String>,
    #[serde(default)]
    plant: String,
}

#[derive(Deserialize)]
struct TokenEntry {
    token: String,
}

/// The result of entering a token.
#[derive(Serialize)]
struct Verdict {
    accepted: bool,
    /// What the token did. Null if nothing.
    kind: Option<&'static str>,
    /// Why the token did nothing. Null if it did something.
    reason: Option<&'static str>,
    /// The total credit: kWh of electricity, litres of water.
    units_total: String,
}

/// The parameters of a request. Another one is refused: whoever gives it would take the whole list for a part of it.
fn query<T: DeserializeOwned>(request: &HttpRequest) -> Result<T, String> {
    let read = Query::<T>::from_query(request.query_string()).map(Query::into_inner);
    read.map_err(|why| format!("{why}; the simulator does not know the codes of providers"))
}

/// `GET /vends?subscriber=`.
pub(super) async fn vends(world: Data<World>, request: HttpRequest) -> HttpResponse {
    let query: VendsQuery = match query(&request) {
        Ok(query) => query,
        Err(why) => return HttpResponse::BadRequest().json(serde_json::json!({ "error": why })),
    };
    let log = world.log.to_json(query.subscriber.as_deref());
    HttpResponse::Ok().content_type("application/json").body(log)
}

/// `GET /statement?product=&from=&until=&plant=`.
pub(super) async fn statement(world: Data<World>, request: HttpRequest) -> HttpResponse {
    let query: StatementQuery = match query(&request) {
        Ok(query) => query,
        Err(why) => return HttpResponse::BadRequest().json(serde_json::json!({ "error": why })),
    };
    let moment = |text: &Option<String>| text.as_deref().map(DateTime::parse_from_rfc3339).transpose();
    let (plants, period) = match (query.plant.parse(), moment(&query.from), moment(&query.until)) {
        (Ok(plants), Ok(from), Ok(until)) => (plants, (from, until)),
        (Err(why), _, _) => return HttpResponse::BadRequest().json(serde_json::json!({ "error": why })),
        (_, Err(why), _) | (_, _, Err(why)) => {
            return HttpResponse::BadRequest().json(serde_json::json!({ "error": why.to_string() }));
        }
    };
    let text = write_statement(world.log.records(None), query.product.as_deref(), period, &plants);
    HttpResponse::Ok().content_type("text/csv").body(text)
}

/// `POST /meters/{number}/enter`.
pub(super) async fn enter(world: Data<World>, number: Path<String>, body: Bytes) -> HttpResponse {
    let entry: TokenEntry = match serde_json::from_slice(&body) {
        Ok(entry) => entry,
        Err(why) => return bad_request(&why),
    };
    let digits: String = entry.token.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    match world.utility.enter(&number, &digits) {
        Some((entry, units_total)) => HttpResponse::Ok().json(Verdict::new(&entry, units_total)),
        None => no_such_meter(),
    }
}

/// `POST /meters/{number}/reset`: a new meter of the same number, and no faults of it.
pub(super) async fn reset(world: Data<World>, number: Path<String>) -> HttpResponse {
    if world.utility.reset(&number).is_none() {
        return no_such_meter();
    }
    world.script.clear_of(&number);
    HttpResponse::NoContent().finish()
}

/// `POST /faults`: one line of a script.
pub(super) async fn script(world: Data<World>, body: Bytes) -> HttpResponse {
    match serde_json::from_slice::<Misbehaviour>(&body) {
        Ok(line) => {
            world.script.add(line);
            HttpResponse::NoContent().finish()
        }
        Err(why) => bad_request(&why),
    }
}

/// `DELETE /faults`.
pub(super) async fn clear(world: Data<World>) -> HttpResponse {
    world.script.clear();
    HttpResponse::NoContent().finish()
}

/// `GET /load`: the XMLVend requests that are open, and the most that were open at a time.
pub(super) async fn load(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({ "now": world.load.now(), "most": world.load.most() }))
}

/// `DELETE /load`.
pub(super) async fn count_anew(world: Data<World>) -> HttpResponse {
    world.load.forget();
    HttpResponse::NoContent().finish()
}

/// `PUT /memory`: sets how repeats and enquiries are handled from now on.
pub(super) async fn habits(world: Data<World>, body: Bytes) -> HttpResponse {
    match serde_json::from_slice::<Habits>(&body) {
        Ok(habits) => {
            world.set_habits(habits);
            HttpResponse::NoContent().finish()
        }
        Err(why) => bad_request(&why),
    }
}

/// `DELETE /memory`: forgets all answers so far, but keeps the log.
pub(super) async fn forget(world: Data<World>) -> HttpResponse {
    world.forget();
    HttpResponse::NoContent().finish()
}

/// `GET /healthz`.
pub(super) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({ "status": "ok" }))
}

fn no_such_meter() -> HttpResponse {
    HttpResponse::NotFound().json(serde_json::json!({ "error": "there is no such meter" }))
}

fn bad_request(why: &serde_json::Error) -> HttpResponse {
    HttpResponse::BadRequest().json(serde_json::json!({ "error": why.to_string() }))
}

impl Verdict {
    fn new(entry: &Entry, units_total: String) -> Self {
        let (kind, reason) = match entry {
            Entry::Accepted(acceptance) => (Some(kind(*acceptance)), None),
            Entry::Refused(refusal) => (None, Some(reason(refusal))),
        };
        Self { accepted: entry.is_accepted(), kind, reason, units_total }
    }
}

fn kind(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Credit { .. } => "credit",
        Acceptance::CreditCleared => "credit_cleared",
        Acceptance::Instruction(_) => "instruction",
        Acceptance::Test(_) => "test",
        Acceptance::KeySection(_) => "key_section",
        Acceptance::KeyChanged { .. } => "key_changed",
    }
}

fn reason(refusal: &EntryRefusal) -> &'static str {
    match refusal {
        EntryRefusal::Malformed(_) => "malformed",
        EntryRefusal::WrongChecksum => "wrong_key",
        EntryRefusal::Unsupported => "unsupported",
        EntryRefusal::AlreadyUsed => "already_used",
        EntryRefusal::TooOld => "too_old",
        EntryRefusal::OutOfOrder { .. } => "out_of_order",
        EntryRefusal::WrongCreditKind { .. } => "wrong_credit_kind",
        EntryRefusal::KeyExpired => "key_expired",
    }
}
