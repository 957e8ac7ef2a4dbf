//! The other routes beside a bare route of the web framework, and the processor time of a confirm.

use std::time::Duration;

use local_postgres::LocalPostgres;
use sandbox::{Pace, Process};
use tokio::runtime::Runtime;

use crate::{
    Failure,
    arguments::Effort,
    bare_route::BareRoute,
    client::address_of,
    crowd::Crowd,
    finding::{Finding, Goal, Sample, Unit},
    kernel,
    measurement::Measurement,
    postgres,
    shop::{Shop, open_merchant},
    till::{BOUGHT, ME, Till},
};

/// The number of clients, each with a meter of its own.
const CLIENTS: u32 = 64;
/// Long enough for every connection to be made, every statement to be prepared, and every meter to be checked.
const WARM_UP: Duration = Duration::from_secs(2);
const BARE: &str = "a bare JSON route, 64 clients";

/// The request of a client for its meter.
type Request = fn(&Till, &str) -> Vec<u8>;

/// A route beside the bare route.
struct Route {
    what: &'static str,
    request: Request,
    /// In the body of every right answer.
    proof: &'static str,
    at_least_tenths: u128,
    runs: Vec<Run>,
}

struct Routes {
    bare: Vec<Run>,
    confirm: Vec<Run>,
    others: [Route; 4],
}

/// Many requests, and the processor time of each, in microseconds.
struct Run {
    measured: Measurement,
    server: u128,
    postgres: u128,
}

/// Where requests go, and who is charged for the processor time.
#[derive(Clone, Copy)]
struct Server<'a> {
    address: &'a str,
    process: u32,
    postgres: &'a LocalPostgres,
}

/// Sends each kind of request for a while, from all clients.
pub fn measure(engine: &Runtime, effort: Effort) -> Result<Vec<Finding>, Failure> {
    let shop = Shop::open("routes", Pace::Production, CLIENTS)?;
    let server = shop.server("unlimited")?;
    let mut routes = Routes { bare: Vec::new(), confirm: Vec::new(), others: others() };
    engine.block_on(routes.measure(&shop, &server, effort))?;
    drop(server);
    shop.close()?;
    Ok(routes.findings())
}

/// A retry follows a confirm with the same reference, so it is about a purchase that has ended.
fn others() -> [Route; 4] {
    [
        route("validate, the meter was checked before", Till::validate, r#""status":"ON_GOING""#, 5),
        route("retry of an ended purchase", Till::retry, BOUGHT, 3),
        route("list of 20 purchases", |till, _meter| till.read("/public/v1/purchases?limit=20"), BOUGHT, 2),
        route("auth/me", |till, _meter| till.read(ME), r#""permissions":"#, 5),
    ]
}

const fn route(what: &'static str, request: Request, proof: &'static str, at_least_tenths: u128) -> Route {
    Route { what, request, proof, at_least_tenths, runs: Vec::new() }
}

impl Routes {
    /// The routes alternate, so that other load on this machine affects all of them alike.
    async fn measure(&mut self, shop: &Shop, server: &Process, effort: Effort) -> Result<(), Failure> {
        let bare_route = BareRoute::start()?;
        let postgres = shop.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?;
        let server = Server { address: address_of(server.url()), process: server.id(), postgres };
        let bare = Server { address: bare_route.address(), process: bare_route.id(), postgres };
        let merchant = open_merchant(&shop.sandbox, "BENCH").await?;
        for _ in 0..effort.rounds {
            // Access tokens expire.
            let till = Till::log_in(server.address, &merchant).await?;
            self.bare.push(run(bare, &till, Till::confirm, BOUGHT, effort).await?);
            self.confirm.push(run(server, &till, Till::confirm, BOUGHT, effort).await?);
            for route in &mut self.others {
                route.runs.push(run(server, &till, route.request, route.proof, effort).await?);
            }
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let bare_rate = rates(&self.bare);
        let bare_processor = Sample::of(self.bare.iter().map(|run| run.server));
        let processor = |what: &str, of: fn(&Run) -> u128| {
            Finding::new(what, Unit::Processor, Sample::of(self.confirm.iter().map(of)))
        };
        let mut findings = vec![
            processor("processor of the server for a confirm", |run| run.server)
                .beside(BARE, bare_processor)
                .must(Goal::MaximumRatio(50)),
            processor("processor of Postgres for a confirm", |run| run.postgres),
            Finding::new("confirm", Unit::Rate, rates(&self.confirm)).beside(BARE, bare_rate.clone()),
        ];
        findings.extend(self.others.iter().map(|route| {
            let rate = Finding::new(route.what, Unit::Rate, rates(&route.runs));
            rate.beside(BARE, bare_rate.clone()).must(Goal::MinimumRatio(route.at_least_tenths))
        }));
        findings
    }
}

fn rates(runs: &[Run]) -> Sample {
    Sample::of(runs.iter().map(|run| run.measured.rate()))
}

async fn run(
    server: Server<'_>,
    till: &Till,
    request: Request,
    proof: &'static str,
    effort: Effort,
) -> Result<Run, Failure> {
    let requests = utility_sim::population(CLIENTS).map(|meter| request(till, &meter));
    let mut clients = Crowd::connect(server.address, requests, proof).await?;
    clients.send_for(WARM_UP).await?;
    let times = || -> Result<(Duration, Duration), Failure> {
        Ok((kernel::computing_time(server.process)?, postgres::computing_time(server.postgres)?))
    };
    let (server_before, postgres_before) = times()?;
    let measured = clients.send_for(effort.length).await?;
    let (server_after, postgres_after) = times()?;
    Ok(Run {
        server: measured.share_of(server_after.saturating_sub(server_before)),
        postgres: measured.share_of(postgres_after.saturating_sub(postgres_before)),
        measured,
    })
}
