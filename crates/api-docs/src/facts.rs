//! The numbers of this server that an integrator needs, as a table of the guide.

use std::fmt::Write as _;

use web::RateSettings;

/// What the settings of a server say to its integrators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    /// The address under which integrators reach the server, without a slash at its end.
    pub public_url: String,
    /// The IANA name of the zone of `date`.
    pub time_zone: String,
    /// The lifetime of an access token, in seconds.
    pub access_lifetime_s: u32,
    /// The lifetime of a refresh token that is not used, in seconds.
    pub refresh_idle_lifetime_s: u32,
    /// The lifetime of everything that is refreshed from one login, in seconds.
    pub family_lifetime_s: u32,
    /// The rate of an OAuth client.
    pub client: RateSettings,
    /// The rate of logins of an address.
    pub login: RateSettings,
    /// The rate of refreshes of an address.
    pub refresh: RateSettings,
    /// The maximum size of a body, in bytes.
    pub body_bytes_max: usize,
    /// The latest answer of confirm and retry, in milliseconds.
    pub answer_within_ms: u64,
    /// How long a reference rests after a final answer of retry, in milliseconds.
    pub reference_rest_ms: u64,
}

/// How the table begins, in the file and on the page.
pub(crate) const BEGINNING: &str = "| This server | |\n|---|---|\n";

impl ServerFacts {
    /// The table, in Markdown.
    pub fn table(&self) -> String {
        let rows = [
            ("The API", format!("`{}/public/v1`", self.public_url)),
            ("The zone of `date`", format!("`{}`", self.time_zone)),
            ("An access token is valid for", lifetime(self.access_lifetime_s)),
            (
                "A refresh token is valid for",
                format!(
                    "{} without use, at most {} from the login",
                    lifetime(self.refresh_idle_lifetime_s),
                    lifetime(self.family_lifetime_s)
                ),
            ),
            ("Requests of an OAuth client", rate(self.client)),
            ("Logins from an address", rate(self.login)),
            ("Refreshes from an address", rate(self.refresh)),
            ("A body has at most", format!("{} bytes", self.body_bytes_max)),
            ("Confirm and retry answer within", pause(self.answer_within_ms)),
            ("A reference rests for", pause(self.reference_rest_ms)),
        ];
        rows.into_iter().fold(BEGINNING.to_owned(), |mut table, (what, value)| {
            let _infallible = writeln!(table, "| {what} | {value} |");
            table
        })
    }
}

const DAY_S: u32 = 24 * 60 * 60;

fn lifetime(seconds: u32) -> String {
    match (seconds.checked_div(DAY_S), seconds.checked_rem(DAY_S)) {
        (Some(days), Some(0)) if days > 1 => format!("{days} days"),
        _no_whole_days => format!("{seconds} seconds"),
    }
}

fn pause(milliseconds: u64) -> String {
    format!("{} seconds", milliseconds.div_ceil(1_000))
}

fn rate(rate: RateSettings) -> String {
    let RateSettings { per_second, burst } = rate;
    if per_second == 0 || burst == 0 {
        "not limited".to_owned()
    } else {
        format!("{per_second} each second, and {burst} at once")
    }
}
