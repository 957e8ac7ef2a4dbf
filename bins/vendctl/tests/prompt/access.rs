//! Every command as each role: the database refuses what `docs/commands.table` does not allow, and vendctl says which role it needs.

use std::{collections::BTreeSet, fs, thread};

use test_kit::database::{PEOPLE, add_logins_with};

use crate::{
    office::{Outcome, TestEnv, WHY, run},
    open_purchase::OpenPurchase,
};

const TABLE: &str = include_str!("../../../../docs/commands.table");

/// The person of each role, in the order of the table.
const ROLES: [(&str, &str); 3] = [("support", "sethunya"), ("finance", "thabo"), ("administrator", "lesego")];

/// The commands about organisations and their money, in an order in which each succeeds for who may run it. Those that change
/// something get a reason.
const ORGANISATIONS: &[&str] = &[
    "! organisation create KGALE --name Kgale --environment staging",
    "! organisation suspend KGALE",
    "! organisation readmit KGALE",
    "! organisation set-receipt-footer KGALE --line Gaborone",
    "organisation list",
    "organisation show KGALE",
    "! client create -o KGALE --name tills",
    "! client suspend $CLIENT",
    "! client readmit $CLIENT",
    "client list -o KGALE",
    "client show $CLIENT",
    "! secret rotate $CLIENT",
    "! secret revoke $CLIENT $SECRET",
    "! user create till -o KGALE --full-name T --role viewer --generate-password",
    "! user set-role till integrator -o KGALE",
    "! user set-password till -o KGALE --generate-password",
    "! user suspend till -o KGALE",
    "! user readmit till -o KGALE",
    "user list -o KGALE",
    "role list",
    "operators list",
    "console link",
    "! console identity add https://id.example $PERSON",
    "console identity list",
    "! console identity remove https://id.example $PERSON",
    "! account open -o KGALE --name Wallet --currency BWP",
    "! account set $WALLET --rank 2",
    "! account suspend $WALLET",
    "! account readmit $WALLET",
    "account list -o KGALE",
    "! wallet top-up $WALLET 5.00 --currency BWP --id A",
    "! wallet adjust $WALLET down 1.00 --currency BWP --id B",
    "! wallet reverse $ENTRY",
    "wallet statement $WALLET",
    "! wallet adjust $COMMISSION up 1.00 --currency BWP --id C",
    "! commission pay $COMMISSION 0.50 --currency BWP --id D",
];

/// The other commands, likewise, after those of [`FIRST`].
const TRADE: &[&str] = &[
    "! product set electricity --min 11",
    "! product set airtime --min 8",
    "! product set-text electricity fr --label Compteur",
    "! product remove-text electricity fr",
    "product list",
    "! provider declare BPC --name BPC",
    "! provider retries BPC off",
    "! provider pause BPC --until 2099-01-01",
    "! provider resume BPC",
    "! provider breaker BPC --trial 04257670465",
    "! provider breaker BPC --off",
    "! provider float-limit BPC 100.00 --currency BWP",
    "provider list",
    "provider show BPC",
    "! offer set -o KGALE electricity BPC --currency BWP",
    "! default-provider set -o KGALE electricity BPC",
    "default-provider show -o KGALE",
    "! default-provider remove -o KGALE electricity",
    "offer list -o KGALE",
    "! offer remove -o KGALE electricity BPC",
    "! allow-list add -o KGALE 04257670465",
    "allow-list list -o KGALE",
    "! allow-list remove -o KGALE 04257670465",
    "! purchases resolve $PURCHASE --as vended --provider-transaction R-1",
    "! purchases resend $PURCHASE",
    "! purchases token $PURCHASE",
    "purchases list",
    "purchases search 26771234567",
    "purchases show $PURCHASE",
    "refusals list",
    "report sales --date 2026-11-20",
    "report payable --date 2026-11-20",
    "report fees --date 2026-11-20",
    "report commission --date 2026-11-20",
    "report accounts --date yesterday",
    "! provider pay BPC 1.00 --currency BWP --id E",
    "! provider reverse-payment $PAID",
    "! fees settle 0.01 --currency BWP --id F",
    "! fees reverse $SETTLED",
    "webhooks list -o KGALE",
    "! incidents close $INCIDENT",
    "incidents list --all",
    "incidents show $INCIDENT",
    "! reconcile BPC $STATEMENT --from 2026-11-24T03:00:00Z --until 2026-11-24T04:00:00Z",
    "reconciliations list",
    "reconciliations show 1",
    "! discrepancies close 1",
    "discrepancies list --all",
    "! recover enter $STATEMENT --provider BPC",
    "! recover charge 1 --account $WALLET",
    "! recover waive 2",
    "! recover withdraw 2",
    "recover list --all",
    "outbox list",
    "! outbox requeue $PURCHASE",
    "! privacy export 04257670465",
    "! privacy erase 04257670465",
    "! archive write $ARCHIVE --older-than-months 24",
    "! archive remove $WRITTEN",
    "archive list",
    "! approvals require declare",
    "! approvals approve $REQUEST",
    "! approvals reject $REQUEST",
    "approvals list",
    "approvals show 1",
    "approvals thresholds",
    "audit list",
    "audit head",
    "audit verify",
    "! account close $EMPTY",
];

/// What [`TRADE`] needs, by the person who may do it.
const FIRST: [(&str, &str); 5] = [
    ("lesego", "organisation create KGALE --name Kgale --environment staging"),
    ("lesego", "client create -o KGALE --name tills"),
    ("lesego", "user create till -o KGALE --full-name T --role viewer --generate-password"),
    ("lesego", "account open -o KGALE --name Wallet --currency BWP"),
    ("thabo", "wallet top-up $WALLET 5.00 --currency BWP --id A"),
];

/// Changes that do more than change the database.
const WITHOUT_REHEARSAL: [&str; 4] = ["purchases token", "privacy export", "archive write", "archive remove"];

/// The commands of the table, and who may run them. Who is no token reader may not run those of readers.
fn table() -> impl Iterator<Item = (String, [bool; 3])> {
    TABLE.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, marks) = words.split_last_chunk::<3>()?;
        marks
            .iter()
            .all(|mark| ["yes", "-", "reader"].contains(mark))
            .then(|| (name.join(" "), marks.map(|mark| mark == "yes")))
    })
}

impl TestEnv {
    /// Runs a command as this person, with a reason if it changes something.
    pub fn types_as(&self, person: &str, arguments: &[&str], changes: bool) -> Outcome {
        let reason: &[&str] = if changes { &WHY } else { &[] };
        run(&self.url_as(person), &[&["--json"], arguments, reason].concat(), "")
    }

    pub fn with_people(self) -> Self {
        add_logins_with(&self.database, &PEOPLE);
        self
    }

    /// What a command names, as it is now.
    fn filled(&self, command: &str, person: &str) -> Vec<String> {
        let value = |word: &str| match word {
            "$PERSON" => person.to_owned(),
            "$CLIENT" => self.sql("SELECT client_id FROM oauth_clients"),
            "$SECRET" => self.sql("SELECT min(id) FROM client_secrets"),
            "$WALLET" => self.sql("SELECT min(id) FROM accounts WHERE category = 'CURRENT'"),
            "$EMPTY" => self.sql(
                "INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
                 SELECT id, 'x', 'BWP', 'TOPUP', 0, 0 FROM organisations RETURNING id",
            ),
            "$ENTRY" => self.sql("SELECT max(id) FROM journal_entries WHERE kind = 'ADJUST'"),
            "$COMMISSION" => self.sql("SELECT min(id) FROM accounts WHERE category = 'COMMISSION'"),
            "$PAID" => self.sql("SELECT max(entry_id) FROM payouts WHERE kind = 'PROVIDER'"),
            "$SETTLED" => self.sql("SELECT max(entry_id) FROM payouts WHERE kind = 'FEES'"),
            "$PURCHASE" => self.sql("SELECT min(id) FROM purchases"),
            "$INCIDENT" => self.sql("SELECT min(id) FROM incidents"),
            "$REQUEST" => self.waiting_request_for(person),
            "$STATEMENT" => self.path("csv"),
            "$ARCHIVE" => self.path(&format!("{person}.jsonl.gz")),
            "$WRITTEN" => self.path("lesego.jsonl.gz"),
            word => word.to_owned(),
        };
        command.split(' ').map(value).collect()
    }

    fn path(&self, extension: &str) -> String {
        self.file(&format!("roles.{extension}")).to_str().unwrap().to_owned()
    }

    /// A request that another person of the same role has made just now.
    fn waiting_request_for(&self, person: &str) -> String {
        let number = self.sql("SELECT count(*) FROM approval_requests");
        let (act, arguments) = if person == "lesego" {
            ("THRESHOLD", r#"{"act": "DECLARE", "above": null}"#.to_owned())
        } else {
            let wallet = self.sql("SELECT min(id) FROM accounts WHERE category = 'CURRENT'");
            let rest = r#""against": "FUNDING", "takes": false, "minor": 100, "currency": "BWP""#;
            ("TOP_UP", format!(r#"{{"wallet": {wallet}, {rest}, "reference": "R-{number}"}}"#))
        };
        self.sql(&format!(
            "INSERT INTO approval_requests (act, arguments, reason, requested_by)
             VALUES ('{act}', '{arguments}', 'rule 4', 'mpho') RETURNING id"
        ))
    }

    /// What commands of this kind need first.
    fn prepares(&self, command: &str) {
        if command.contains("archive write") {
            self.sql(
                "SET session_replication_role = replica;
                 UPDATE purchases SET created_at = created_at - interval '25 months', ended_at = ended_at - interval '25 months'",
            );
        }
        if command.contains("fees settle") {
            // Fees of tests are not real.
            self.sql("UPDATE organisations SET environment = 'PRODUCTION'");
        }
        if command.contains("purchases resolve") {
            let airtime = OpenPurchase {
                state: "REVIEW",
                product: "AIRTIME",
                subscriber: "26771234567",
                age: "1 hour",
            };
            let purchase = self.inserts_purchase(&airtime);
            self.inserts_late_vend(&purchase);
            let lines = (1..=2).map(|n| {
                format!("20261124032043-00090{n},S-{n},2026-11-24T03:20:43Z,AIRTIME,26771234567,1.00,BWP,\n")
            });
            let header = "reference,transaction,time,product,subscriber,amount,currency,token\n";
            fs::write(self.path("csv"), header.to_owned() + &lines.collect::<String>()).unwrap();
        }
    }
}

/// The row of the table about this command.
fn row(command: &str) -> (String, [bool; 3]) {
    let found = table()
        .filter(|(name, _)| command == name || command.starts_with(&format!("{name} ")))
        .max_by_key(|(name, _)| name.len());
    assert!(found.is_some(), "the table does not have {command}");
    found.unwrap()
}

#[test]
fn each_command_of_the_table_is_tried() {
    let tried = [ORGANISATIONS, TRADE].concat();
    let tried: BTreeSet<String> = tried.iter().map(|line| row(line.trim_start_matches("! ")).0).collect();
    let all: BTreeSet<String> = table().map(|(name, _)| name).collect();
    assert_eq!(tried, all);
}

#[test]
fn each_role_may_run_the_commands_about_organisations_of_the_table_and_no_others() {
    each_may_run_what_the_table_says(&TestEnv::open().with_people(), ORGANISATIONS);
}

#[test]
fn each_role_may_run_the_commands_about_the_trade_of_the_table_and_no_others() {
    let env = TestEnv::open().with_people();
    for (person, command) in FIRST {
        let typed = env.filled(command, person);
        let done = env.types_as(person, &typed.iter().map(String::as_str).collect::<Vec<_>>(), true);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    each_may_run_what_the_table_says(&env, TRADE);
}

fn each_may_run_what_the_table_says(env: &TestEnv, commands: &[&str]) {
    for line in commands {
        let command = line.trim_start_matches("! ");
        let changes = line.starts_with('!');
        let (name, allowed) = row(command);
        let has_rehearsal = changes && !WITHOUT_REHEARSAL.contains(&name.as_str());
        env.prepares(command);
        let typed = ROLES.map(|(_, person)| env.filled(command, person));
        let run_with = |n: usize, further: &[&str]| {
            let arguments: Vec<&str> = typed[n].iter().map(String::as_str).collect();
            env.types_as(ROLES[n].1, &[&arguments[..], further].concat(), changes)
        };
        let run_as = |n: usize| run_with(n, &[]);
        let before = env.sql("SELECT id FROM audit_head");
        thread::scope(|scope| {
            let refused = (0..3).filter(|n| !allowed[*n]).map(|n| {
                let rehearsal = scope.spawn(move || run_with(n, &["--dry-run"]));
                (n, scope.spawn(move || run_as(n)), rehearsal)
            });
            for (n, act, rehearsal) in refused.collect::<Vec<_>>() {
                let has = format!("; you have {}. Nothing was done", ROLES[n].0);
                let asks_for =
                    |said: &str, reader: &str| said.contains(reader) && said.contains("nothing was shown");
                let is_told = |said: &str| {
                    if name == "purchases token" {
                        asks_for(said, &format!("GRANT vendgate_token_reader TO {}.", ROLES[n].1))
                    } else {
                        said.contains("this needs the role ") && said.contains(&has)
                    }
                };
                let (act, rehearsal) = (act.join().unwrap(), rehearsal.join().unwrap());
                assert!(is_told(&act.stderr), "{command}: {}", act.stderr);
                if has_rehearsal {
                    assert!(is_told(&rehearsal.stderr), "{command} --dry-run: {}", rehearsal.stderr);
                } else {
                    assert_eq!(rehearsal.code, 2, "{command} --dry-run");
                }
            }
        });
        assert_eq!(env.sql("SELECT id FROM audit_head"), before, "{command}");
        for n in (0..3).filter(|n| allowed[*n]) {
            let before = env.sql("SELECT id FROM audit_head");
            // The statement of this test has a vend that the books do not have.
            let code = if command.starts_with("reconcile ") { 4 } else { 0 };
            let rehearsal = run_with(n, &["--dry-run"]);
            if has_rehearsal {
                assert_eq!((rehearsal.code, rehearsal.stderr.as_str()), (code, ""), "{command} --dry-run");
            } else {
                assert_eq!(rehearsal.code, 2, "{command} --dry-run");
            }
            assert_eq!(env.sql("SELECT id FROM audit_head"), before, "{command} --dry-run");
            let outcome = run_as(n);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (code, ""), "{command} as {}", ROLES[n].0);
        }
    }
    for left in ["csv", "sethunya.jsonl.gz", "thabo.jsonl.gz", "lesego.jsonl.gz"] {
        let _removed = fs::remove_file(env.path(left));
    }
}

#[test]
fn a_login_with_two_roles_may_do_what_either_may() {
    let (env, wallet) = TestEnv::with_a_wallet();
    add_logins_with(&env.database, &[("neo", "vendgate_support, vendgate_finance")]);
    let paid =
        env.types_as("neo", &["wallet", "top-up", &wallet, "1.00", "--currency", "BWP", "--id", "A"], true);
    assert_eq!(paid.code, 0, "{}", paid.stderr);
    let refused = env.types_as("neo", &["organisation", "suspend", "KGALE"], true);
    let said = "vendctl: this needs the role administrator; you have support, finance. Nothing was done; ask a person with that role\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (1, said));
}
