//! The cost of one request, in the units of the table.

use local_postgres::LocalDatabase;
use stats_alloc::Region;

use crate::{ALLOCATOR, client::Client, conversation::Said, server::CountedServer};

/// Makes the functions available that read the log which Postgres writes ahead of its tables.
pub const PREPARE: &str = "CREATE EXTENSION IF NOT EXISTS pg_walinspect";

/// The units, in the order of the table, each with the part by which a measurement may differ from what is accepted:
/// numbers have more digits from one run to the next. Allocations have no such part. But the buffers of what is sent grow anew, at
/// most in one allocation for each statement and for each begin or commit, if the driver's task has not yet sent what was before
/// it. For hundreds of requests in a row it has, or it has not.
pub const UNITS: [Unit; 10] = [
    Unit { name: "statements", tolerance_permille: 0 },
    Unit { name: "round trips", tolerance_permille: 0 },
    Unit { name: "commits", tolerance_permille: 0 },
    Unit { name: "rows inserted", tolerance_permille: 0 },
    Unit { name: "rows updated in their page", tolerance_permille: 0 },
    Unit { name: "rows updated and indexed again", tolerance_permille: 0 },
    Unit { name: "index entries", tolerance_permille: 0 },
    Unit { name: "WAL bytes", tolerance_permille: 30 },
    Unit { name: "allocations", tolerance_permille: 0 },
    Unit { name: "bytes allocated", tolerance_permille: 50 },
];

/// The index of the first unit that is about allocations.
const ALLOCATIONS: usize = 8;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub name: &'static str,
    pub tolerance_permille: u64,
}

impl Unit {
    /// Whether a request that talks this much to the database may cost this amount, if the table accepts another one. A round trip
    /// begins or ends a transaction.
    pub fn is_near(self, amount: u64, accepted: u64, statements: u64, round_trips: u64) -> bool {
        let regrown = if self.name == "allocations" { statements + round_trips } else { 0 };
        amount.abs_diff(accepted) * 1000 <= accepted * self.tolerance_permille + regrown * 1000
    }
}

/// The cost of one request: an amount for each unit.
pub type Cost = [u64; UNITS.len()];

/// What was counted about one request before its log is read.
struct Counted {
    statements: u64,
    round_trips: u64,
    allocations: usize,
    bytes_allocated: usize,
    log: (String, String),
}

/// The cost of one of many requests, which are sent one after the other. The first ones only prepare statements and
/// caches. A request allocates a little more when its tasks wake in another order, so the least of the allocations counts,
/// and the median of everything else.
pub fn of_each(server: &CountedServer, client: &mut Client, requests: &[Vec<u8>], preparing: usize) -> Cost {
    let database = server.sandbox.database();
    let counted: Vec<Counted> =
        requests.iter().map(|request| count(server, client, database, request)).collect();
    let costs: Vec<Cost> = counted.iter().skip(preparing).map(|counted| cost(database, counted)).collect();
    std::array::from_fn(|unit| {
        let mut amounts: Vec<u64> = costs.iter().map(|cost| *cost.get(unit).unwrap()).collect();
        amounts.sort_unstable();
        let place = if unit < ALLOCATIONS { amounts.len() / 2 } else { 0 };
        *amounts.get(place).unwrap()
    })
}

fn count(server: &CountedServer, client: &mut Client, database: &LocalDatabase, request: &[u8]) -> Counted {
    let begins = end_of_log(database);
    let Said { statements, round_trips } = server.conversation.said();
    let allocated = Region::new(ALLOCATOR);
    client.exchange(request);
    let allocated = allocated.change();
    let said = server.conversation.said();
    Counted {
        statements: said.statements - statements,
        round_trips: said.round_trips - round_trips,
        allocations: allocated.allocations + allocated.reallocations,
        bytes_allocated: allocated.bytes_allocated,
        log: (begins, end_of_log(database)),
    }
}

fn end_of_log(database: &LocalDatabase) -> String {
    database.run_sql("SELECT pg_current_wal_flush_lsn()").unwrap()
}

fn cost(database: &LocalDatabase, counted: &Counted) -> Cost {
    let (begins, ends) = &counted.log;
    let logged = if begins == ends {
        vec![0; 6]
    } else {
        let sums = [
            ("Transaction/COMMIT", "count"),
            ("Heap2?/(MULTI_)?INSERT(\\+INIT)?", "count"),
            ("Heap/HOT_UPDATE(\\+INIT)?", "count"),
            ("Heap/UPDATE(\\+INIT)?", "count"),
            ("(Btree/INSERT_(LEAF|POST)|Btree/SPLIT_[LR]|Gin/INSERT|Brin/.*)", "count"),
            (".*", "combined_size"),
        ];
        let sums = sums.map(|(kind, amount)| {
            format!(
                "coalesce(sum({amount}) FILTER (WHERE \"resource_manager/record_type\" ~ '^{kind}$'), 0)::bigint"
            )
        });
        let sql = format!("SELECT {} FROM pg_get_wal_stats('{begins}', '{ends}', true)", sums.join(", "));
        let sums = database.run_sql(&sql).unwrap();
        sums.split('|').map(|sum| sum.parse().unwrap()).collect()
    };
    let talked = [counted.statements, counted.round_trips];
    let allocated = [counted.allocations, counted.bytes_allocated].map(|count| u64::try_from(count).unwrap());
    let amounts: Vec<u64> = talked.into_iter().chain(logged).chain(allocated).collect();
    amounts.try_into().unwrap()
}
