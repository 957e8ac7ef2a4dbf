//! The programs: where their settings are declared, and how a file is checked.

use std::sync::Arc;

use clock::{SharedClock, SystemClock};

use crate::{
    allowed::Checked,
    keys::{Key, Keys, Step},
    page::Listed,
    source::declarations,
};

/// The files that declare the settings of several programs. A program adds the file of its root, `Settings`.
const FILES: &[&str] = &[
    "bins/retry-worker/src/rounds.rs",
    "crates/back-office/src/housekeeping/feed.rs",
    "crates/back-office/src/housekeeping/retention.rs",
    "crates/boot/src/observe.rs",
    "crates/boot/src/telemetry.rs",
    "crates/database/src/settings.rs",
    "crates/directory/src/words.rs",
    "crates/identity/src/settings.rs",
    "crates/notify/src/settings.rs",
    "crates/provider-registry/src/lib.rs",
    "crates/provider-reloadly/src/fault.rs",
    "crates/provider-reloadly/src/settings.rs",
    "crates/provider-vtpass/src/settings.rs",
    "crates/provider-xmlvend/src/fault_texts.rs",
    "crates/provider-xmlvend/src/settings.rs",
    "crates/store/src/seal/settings.rs",
    "crates/traces/src/settings.rs",
    "crates/vending/src/settings.rs",
    "crates/web/src/limits/settings.rs",
    "crates/web/src/settings.rs",
    "crates/webhook-delivery/src/settings.rs",
];

const KEY: &str = "\"0000000000000000000000000000000000000000000000000000000000000000\"";

const API_SERVER: Checked = Checked {
    name: "api-server",
    required: &[
        ("store.database_url", "\"postgres://api:password@127.0.0.1:1/vendgate\""),
        ("sealing.current.id", "1"),
        ("sealing.current.key", KEY),
        ("identity.environment", "\"STAGING\""),
        ("identity.refresh_key", KEY),
    ],
    optional: &[PROVIDERS],
    check: |file| {
        let settings = api_server::load(Some(&file), &clock())?;
        Ok(format!("{settings:?}"))
    },
};

const RETRY_WORKER: Checked = Checked {
    name: "retry-worker",
    required: &[
        ("store.database_url", "\"postgres://worker:password@127.0.0.1:1/vendgate\""),
        ("sealing.current.id", "1"),
        ("sealing.current.key", KEY),
    ],
    optional: &[PROVIDERS, MESSAGES],
    check: |file| {
        let settings = retry_worker::load(Some(&file), &clock())?;
        Ok(format!("{settings:?}"))
    },
};

const PROVIDERS: &[(&str, &str)] = &[
    ("providers.bpc.xmlvend.endpoint", "\"http://127.0.0.1:1/xmlvend\""),
    ("providers.bpc.xmlvend.currency", "\"BWP\""),
    ("providers.bpc.xmlvend.client.ean", "\"2670000000015\""),
    ("providers.bpc.xmlvend.terminal.id", "\"till\""),
    ("providers.bpc.xmlvend.credentials.op_name", "\"vendgate\""),
    ("providers.bpc.xmlvend.credentials.password", "\"password\""),
    ("providers.airtime.reloadly.auth_url", "\"http://127.0.0.1:1/auth\""),
    ("providers.airtime.reloadly.topups_url", "\"http://127.0.0.1:1/topups\""),
    ("providers.airtime.reloadly.client_id", "\"vendgate\""),
    ("providers.airtime.reloadly.client_secret", "\"password\""),
    ("providers.airtime.reloadly.country", "\"BW\""),
    ("providers.airtime.reloadly.currency", "\"BWP\""),
    ("providers.ikeja.vtpass.base_url", "\"http://127.0.0.1:1/api\""),
    ("providers.ikeja.vtpass.api_key", "\"key\""),
    ("providers.ikeja.vtpass.secret_key", "\"SK_key\""),
    ("providers.ikeja.vtpass.service_id", "\"ikeja-electric\""),
    ("providers.ikeja.vtpass.phone", "\"08011111111\""),
];

const MESSAGES: &[(&str, &str)] = &[
    ("notify.sms.url", "\"http://127.0.0.1:1/sendsms\""),
    ("notify.sms.username", "\"vendgate\""),
    ("notify.sms.password", "\"password\""),
    ("notify.sms.from", "\"Vendgate\""),
    ("notify.email.host", "\"mail.example\""),
    ("notify.email.username", "\"vendgate\""),
    ("notify.email.password", "\"password\""),
    ("notify.email.from", "\"receipts@vendgate.example\""),
];

/// Every section of every program, in the order of the declarations.
pub fn listed() -> Vec<(&'static str, Vec<Listed>)> {
    let server = sections(&API_SERVER, "bins/api-server/src/settings.rs", &[]);
    let worker = sections(&RETRY_WORKER, "bins/retry-worker/src/settings.rs", &server);
    vec![
        (API_SERVER.name, server),
        (RETRY_WORKER.name, worker),
        ("api-server migrate", unchecked("bins/api-server/src/migrate.rs", "Owner", "migrate")),
        ("vendctl", unchecked("crates/operator-reports/src/settings.rs", "OperatorSettings", "operator")),
        ("console", of_the_console()),
    ]
}

/// The sections of a program that declares its settings in the file `root`.
fn sections(program: &Checked, root: &str, earlier: &[Listed]) -> Vec<Listed> {
    let mut files = FILES.to_vec();
    files.push(root);
    let declarations = declarations(&files);
    let Keys { headings, all: keys, .. } = Keys::of(&declarations, "Settings", &program.shown());
    let listed = headings.into_iter().map(|heading| {
        // One crate checks the providers for both programs. Each of its checks reads the certificates of the machine.
        let is_of_a_provider = heading.path.contains(&Step::Chosen);
        if let Some(same) =
            earlier.iter().find(|other| is_of_a_provider && other.heading.path == heading.path)
        {
            return Listed { heading, settings: same.settings.clone() };
        }
        let own = keys.iter().filter(|key| key.path[..key.heading] == heading.path[..]);
        let is_list = heading.path.contains(&Step::Entry);
        let allowed = |key| if is_list { String::new() } else { program.allowed(key, &keys) };
        let settings = own.map(|key| (key.clone(), allowed(key))).collect();
        Listed { heading, settings }
    });
    listed.collect()
}

fn of_the_console() -> Vec<Listed> {
    let sections = [("ConsoleSettings", "console"), ("OpenIdSettings", "openid")];
    let file = "bins/console/src/settings.rs";
    sections.into_iter().flat_map(|(declared, name)| unchecked(file, declared, name)).collect()
}

/// The section `name` of a program that cannot check its settings without using them.
fn unchecked(file: &str, declared: &str, name: &str) -> Vec<Listed> {
    let declarations = declarations(&[file]);
    let Keys { headings, all: keys, .. } = Keys::of_section(&declarations, declared, name);
    let allowed = |key: &Key| {
        if key.path.last() == Some(&Step::Named("database_url".to_owned())) {
            "as `database_url` of `[store]`"
        } else {
            ""
        }
    };
    let settings = keys.into_iter().map(|key| (key.clone(), allowed(&key).to_owned())).collect();
    headings
        .into_iter()
        .take(1)
        .zip([settings])
        .map(|(heading, settings)| Listed { heading, settings })
        .collect()
}

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}
