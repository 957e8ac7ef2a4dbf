//! The drill, from the first base copy to the judgement.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use acceptance::{
    checker::{self, Claim, Moment, VendLog, Violation},
    fault_injection::{Behaviour, FaultEnv, now},
    tills::{self, Tills},
};
use sandbox::Process;
use tokio::runtime::Runtime;

use crate::{
    Failure,
    archive::Archive,
    recovery::Statement,
    report::{Report, ToTheEnd, ToTheMoment},
    server::{Account, Server},
};

const TILLS: usize = 8;
/// Some vends leave a doubt, which the restored database must end.
const BEHAVIOURS: &[Behaviour] =
    &[Behaviour::Ordinary, Behaviour::Ordinary, Behaviour::LostReply, Behaviour::Ordinary];
/// How long sales must go on in each phase, and within what time they must.
const STEADY: Duration = Duration::from_secs(4);
const SOLD_WITHIN: Duration = Duration::from_mins(1);
const SETTLED_WITHIN: Duration = Duration::from_mins(3);
/// The database's time, RFC 3339.
const CLOCK: &str =
    r#"SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"#;

/// Everything that takes part.
pub struct Drill<'a> {
    pub runtime: &'a Runtime,
    pub env: Arc<FaultEnv>,
    pub directory: &'a Path,
    /// The user that Postgres runs as.
    pub account: Account,
    /// Whether the restored database does not notice that it was restored. Then the drill must fail.
    pub forgets_numbers: bool,
}

impl Drill<'_> {
    /// Restores to the end of the archive, and then to a moment.
    pub fn run(&self) -> Result<Report, Failure> {
        let mut sellers = Sellers::start(&self.env)?;
        let server = Server::of_the_sandbox(&self.env)?;
        let (to_the_end, server) = self.to_the_end(&mut sellers, server)?;
        println!("{to_the_end}");
        let to_the_moment = self.to_the_moment(&mut sellers, server)?;
        Ok(Report { to_the_end, to_the_moment })
    }

    /// Nothing that was acknowledged may be missing: each commit waited for the archive.
    fn to_the_end(&self, sellers: &mut Sellers, server: Server) -> Result<(ToTheEnd, Server), Failure> {
        let archive = self.archives("first")?;
        let tills = self.open_tills(sellers, "end");
        self.sells()?;
        archive.copy("day-1")?;
        self.sells()?;
        archive.copy("day-2")?;
        self.sells()?;
        let destroyed = now();
        self.runtime.block_on(server.destroy())?;
        sellers.stop();
        let server = self.restores(archive, "day-2", None)?;
        let recovered = now();
        sellers.start_again()?;
        self.sells()?;
        let first_sale = tills::sales(&self.env).into_iter().filter(|at| *at > recovered).min();
        self.closes(sellers, tills)?;
        let violations = checker::check(&self.env.evidence(Moment::AtRest));
        let shown = ToTheEnd {
            purchases: self.env.asks("SELECT count(*) FROM purchases"),
            recovered: recovered.saturating_sub(destroyed),
            sold: first_sale.unwrap_or_else(now).saturating_sub(destroyed),
            violations: violations.iter().map(Violation::to_string).collect(),
        };
        Ok((shown, server))
    }

    /// What was sold after the moment is missing, and nothing else. No number is given out again.
    fn to_the_moment(&self, sellers: &mut Sellers, server: Server) -> Result<ToTheMoment, Failure> {
        let archive = self.archives("second")?;
        archive.copy("day-3")?;
        let tills = self.open_tills(sellers, "moment");
        self.sells()?;
        // One statement: what it sees was committed before it read the clock.
        let shown = self
            .env
            .asks(&format!(r"{CLOCK} || E'\n' || string_agg(provider_reference, E'\n') FROM attempts"));
        let (moment, committed) =
            shown.split_once('\n').ok_or("no attempt was committed before the moment")?;
        self.sells()?;
        self.closes(sellers, tills)?;
        let sent_later = format!("SELECT provider_reference FROM attempts WHERE started_at > '{moment}'");
        let sent_later = self.references(&sent_later);
        let (sold, until) = (self.wallets(), self.env.asks(CLOCK));
        self.runtime.block_on(server.destroy())?;
        sellers.stop();
        let _server = self.restores(archive, "day-3", Some(moment))?;
        let in_the_books = self.references("SELECT provider_reference FROM attempts");
        let vend_log = VendLog::read(&self.env.sandbox.vend_log());
        let vended: BTreeSet<String> =
            vend_log.vended().keys().map(|(_product, reference)| (*reference).to_owned()).collect();
        if self.forgets_numbers {
            self.env.asks("UPDATE purchase_numbers SET given_out_by = cluster_and_timeline()");
        }
        sellers.start_again()?;
        let tills = self.open_tills(sellers, "after");
        self.sells()?;
        let file = self.directory.join("statement.csv");
        let statement = Statement::write(&self.env, file, moment.to_owned(), until, sold)?;
        let recovery = statement.enter_and_decide()?;
        self.closes(sellers, tills)?;
        Ok(ToTheMoment {
            recovery: statement.at_rest(recovery)?,
            lost: vended.intersection(&sent_later).cloned().collect(),
            missing: vended.difference(&in_the_books).cloned().collect(),
            committed: committed.lines().map(str::to_owned).collect(),
            repeated: self.repeated_numbers(),
        })
    }

    fn archives(&self, name: &str) -> Result<Archive<'_>, Failure> {
        self.runtime.block_on(Archive::begin(&self.env, self.account, self.directory.join(name)))
    }

    fn restores(&self, archive: Archive<'_>, day: &str, moment: Option<&str>) -> Result<Server, Failure> {
        let data = archive.restore(day, moment)?;
        let log = self.directory.join(format!("{day}.log"));
        self.runtime.block_on(Server::start(&self.env, self.account, &data, &log))
    }

    fn open_tills(&self, sellers: &Sellers, name: &'static str) -> Tills {
        let url = sellers.server.url().to_owned();
        Tills::open(self.runtime.handle(), &self.env, &[url.clone(), url], TILLS, BEHAVIOURS, name)
    }

    fn closes(&self, sellers: &Sellers, tills: Tills) -> Result<(), Failure> {
        self.runtime.block_on(async {
            tills.close(sellers.server.url()).await?;
            self.env.comes_to_rest_within(SETTLED_WITHIN).await;
            Ok(())
        })
    }

    fn sells(&self) -> Result<(), Failure> {
        Ok(self.runtime.block_on(tills::go_on(&self.env, STEADY, SOLD_WITHIN))?)
    }

    fn references(&self, query: &str) -> BTreeSet<String> {
        self.env.asks(query).lines().map(str::to_owned).collect()
    }

    /// The wallet of each attempt, by its reference.
    fn wallets(&self) -> BTreeMap<String, String> {
        let wallets = "SELECT a.provider_reference, p.account_id FROM attempts a JOIN purchases p ON p.id = a.purchase_id";
        let rows = self.env.asks(wallets);
        let pairs = rows.lines().filter_map(|row| row.split_once('|'));
        pairs.map(|(reference, wallet)| (reference.to_owned(), wallet.to_owned())).collect()
    }

    /// The numbers under which two orders were told that they are bought.
    fn repeated_numbers(&self) -> Vec<i64> {
        let mut orders: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        for integrator in &self.env.integrators {
            for exchange in integrator.history().iter() {
                if let (Claim::Bought { id }, Some(about)) = (exchange.claim(), exchange.about()) {
                    orders.entry(id).or_default().insert(format!("{} {about:?}", exchange.organisation));
                }
            }
        }
        orders.into_iter().filter(|(_id, orders)| orders.len() > 1).map(|(id, _orders)| id).collect()
    }
}

/// A server and a worker.
struct Sellers {
    server: Process,
    worker: Process,
}

impl Sellers {
    fn start(env: &FaultEnv) -> Result<Self, Failure> {
        Ok(Self {
            server: env.sandbox.another_api_server(&env.programs.api_server, "server", &[])?,
            worker: env.sandbox.another_retry_worker(&env.programs.retry_worker, "worker", &[])?,
        })
    }

    /// Their machine is lost together with the database.
    fn stop(&mut self) {
        for process in [&mut self.server, &mut self.worker] {
            let _ended_before = process.signal(sandbox::Signal::KILL);
            let _status = process.ends_within(Duration::from_secs(10));
        }
    }

    fn start_again(&mut self) -> Result<(), Failure> {
        self.server = self.server.start_again()?;
        self.worker = self.worker.start_again()?;
        Ok(())
    }
}
