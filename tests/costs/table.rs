//! The table of costs: a line for each unit, a column for each request.

use std::{collections::BTreeMap, fmt};

use acceptance::surface::{Surface, body};

use crate::{
    client::Client,
    cost::{self, Cost, PREPARE, UNITS},
    server::CountedServer,
};

/// Enough requests for caches, prepared statements and blocks of numbers, before the counting begins.
const PREPARING: usize = 25;
const COUNTED: usize = 21;
/// The number of the first attempt.
const FIRST: usize = 0;
const HEAD: &str = "\
# What one request costs: counted, not timed. `cargo test -p acceptance --test costs` compares it.
# One client sends one request at a time. `validate` and `confirm` are for a meter that the provider has described before.
";

/// The costs by request and unit.
pub struct Table(Vec<(&'static str, Cost)>);

/// The costs that are accepted, by the same names.
pub type Accepted = BTreeMap<(String, String), u64>;

impl Table {
    /// Counts the costs of every kind of request.
    pub fn measure(server: &CountedServer) -> Self {
        Self::measure_some(server, FIRST, |_request| true)
    }

    /// The lesser costs of this table and of another attempt, which counts only the requests whose costs are not accepted.
    pub fn measure_again(self, server: &CountedServer, attempt: usize, accepted: &Accepted) -> Self {
        let differs = |(name, cost): &&(&str, Cost)| !differences(name, cost, accepted).is_empty();
        let others: Vec<&str> = self.0.iter().filter(differs).map(|(name, _)| *name).collect();
        let again = Self::measure_some(server, attempt, |request| others.contains(&request));
        let mut again = again.0.into_iter().peekable();
        let least = self.0.into_iter().map(|(request, one)| {
            let other = again.next_if(|(other, _)| *other == request);
            (request, other.map_or(one, |(_, other)| least(one, other)))
        });
        Self(least.collect())
    }

    /// Each attempt buys under references of its own. The retries ask for the purchases of the first one.
    fn measure_some(server: &CountedServer, attempt: usize, wanted: impl Fn(&str) -> bool) -> Self {
        server.sandbox.database().run_sql(PREPARE).unwrap();
        let mut client = Client::connect(&server.address);
        let meter = utility_sim::population(1).next().unwrap();
        let reference = |attempt: usize, number: usize| format!("cost-{attempt}-{number:04}");
        let order = |number| server.order(&meter, &reference(attempt, number));
        let question = |number| body(&Surface::V1.question(&meter, &reference(FIRST, number)));
        let nothing = |_number| String::new();
        let requests: [(_, _, _, &dyn Fn(usize) -> String); 5] = [
            ("validate", "POST", "/purchases/validate", &order),
            ("confirm", "POST", "/purchases/confirm", &order),
            ("retry", "POST", "/purchases/retry", &question),
            ("list", "GET", "/purchases?limit=20", &nothing),
            ("me", "GET", "/auth/me", &nothing),
        ];
        let wanted = requests.into_iter().filter(|(name, ..)| wanted(name));
        let costs = wanted.map(|(name, method, path, body)| {
            let numbers = 0..PREPARING + COUNTED;
            let requests: Vec<Vec<u8>> =
                numbers.map(|number| server.request(&client, method, path, &body(number))).collect();
            (name, cost::of_each(server, &mut client, &requests, PREPARING))
        });
        Self(costs.collect())
    }

    /// Reads a table in the form in which it is displayed.
    pub fn parse(text: &str) -> Accepted {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let requests: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
        let mut accepted = Accepted::new();
        for line in lines {
            let amounts: Vec<&str> = line.split_whitespace().rev().take(requests.len()).collect();
            let name = line.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
            for (request, amount) in requests.iter().zip(amounts.iter().rev()) {
                accepted.insert(((*request).to_owned(), name.to_owned()), amount.parse().unwrap());
            }
        }
        accepted
    }

    /// A sentence for each cost that is not as accepted. Less is a difference too: the table must tell it.
    pub fn differences_from(&self, accepted: &Accepted) -> Vec<String> {
        self.0.iter().flat_map(|(request, cost)| differences(request, cost, accepted)).collect()
    }
}

fn differences(request: &str, cost: &Cost, accepted: &Accepted) -> Vec<String> {
    let mut differences = Vec::new();
    let [statements, round_trips, ..] = *cost;
    for (unit, amount) in UNITS.iter().zip(cost) {
        let key = (request.to_owned(), unit.name.to_owned());
        let before = accepted.get(&key).copied();
        if !before.is_some_and(|before| unit.is_near(*amount, before, statements, round_trips)) {
            let before = before.map_or_else(|| "nothing".to_owned(), |before| before.to_string());
            differences
                .push(format!("{request} costs {amount} {}, and the table accepts {before}", unit.name));
        }
    }
    differences
}

fn least(one: Cost, other: Cost) -> Cost {
    std::array::from_fn(|unit| *one.get(unit).unwrap().min(other.get(unit).unwrap()))
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{HEAD}{:<30}", "")?;
        for (request, _) in &self.0 {
            write!(out, " {request:>9}")?;
        }
        for (place, unit) in UNITS.iter().enumerate() {
            write!(out, "\n{:<30}", unit.name)?;
            for (_, cost) in &self.0 {
                write!(out, " {:>9}", cost.get(place).unwrap())?;
            }
        }
        writeln!(out)
    }
}

#[test]
fn a_table_is_read_as_it_is_displayed_and_differs_from_another_one() {
    let table = Table(vec![("one", [1, 2, 3, 4, 5, 6, 7, 1000, 9, 10]), ("other", [0; UNITS.len()])]);
    let accepted = Table::parse(&table.to_string());
    assert_eq!(accepted.len(), 2 * UNITS.len());
    assert_eq!(table.differences_from(&accepted), Vec::<String>::new());
    let dearer = Table(vec![("one", [2, 2, 3, 4, 5, 6, 7, 1031, 9, 10]), ("other", [0; UNITS.len()])]);
    assert_eq!(
        dearer.differences_from(&accepted),
        [
            "one costs 2 statements, and the table accepts 1",
            "one costs 1031 WAL bytes, and the table accepts 1000"
        ]
    );
}
