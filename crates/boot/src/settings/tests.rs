//! Which settings are read, and which mistakes are reported.

use std::{ffi::OsStr, fs};

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Merchant {
    name: String,
    till: Till,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Till {
    port: u16,
    pin: String,
    #[serde(default)]
    open: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the pin of an open till must not be empty")]
struct NoPin;

impl Till {
    fn checked(&self) -> Result<(), NoPin> {
        if self.open && self.pin.is_empty() { Err(NoPin) } else { Ok(()) }
    }
}

fn load_from(toml: &str, environment: &[(&str, &str)]) -> Result<Merchant, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("boot-settings-{}-{number}.toml", std::process::id()));
    fs::write(&file, toml).unwrap();
    let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let loaded = load_with(Some(&file), Some(environment.collect()), None, |merchant: &Merchant, review| {
        review.section("till", || merchant.till.checked());
    });
    fs::remove_file(&file).unwrap();
    // The parser names the file relative to the directory in which the test runs.
    let name = file.file_name().and_then(OsStr::to_str).unwrap();
    let in_short =
        |text: String| text.replace(&file.display().to_string(), "shop.toml").replace(name, "shop.toml");
    loaded.map_err(|error| in_short(error.to_string()))
}

#[test]
fn the_environment_wins_over_the_file_and_keeps_the_zeros_of_a_text() {
    let toml = "name = \"Kgosi\"\n[till]\nport = 80\npin = \"1234\"\n";
    let environment = [
        ("VENDGATE__TILL__PORT", "8080"),
        ("VENDGATE__TILL__PIN", "0071"),
        ("VENDGATE__TILL__OPEN", "true"),
        ("VENDGATE_SWEEP", "not a setting"),
    ];
    let expected =
        Merchant { name: "Kgosi".into(), till: Till { port: 8080, pin: "0071".into(), open: true } };
    assert_eq!(load_from(toml, &environment), Ok(expected));
}

#[test]
fn a_missing_setting_is_named_with_both_places_to_set_it() {
    assert_eq!(
        load_from("name = \"Kgosi\"\n[till]\nport = 80\n", &[]).unwrap_err(),
        "the setting `till.pin` is missing; set it by VENDGATE__TILL__PIN in the environment \
         or as `pin` under [till] in shop.toml"
    );
    assert_eq!(
        load_from("[till]\nport = 80\npin = \"1\"\n", &[]).unwrap_err(),
        "the setting `name` is missing; set it by VENDGATE__NAME in the environment or as `name` in shop.toml"
    );
}

#[test]
fn a_wrong_setting_is_named_without_repeating_what_may_be_secret() {
    let wrong = load_from("name = \"Kgosi\"\n[till]\nport = \"hunter2\"\npin = \"1\"\n", &[]).unwrap_err();
    assert_eq!(
        wrong,
        "the setting `till.port` is wrong: an integer is expected; set it by VENDGATE__TILL__PORT \
         in the environment or as `port` under [till] in shop.toml"
    );
}

#[test]
fn a_number_that_does_not_fit_is_wrong() {
    let wrong = load_from("name = \"Kgosi\"\n[till]\nport = 65536\npin = \"1\"\n", &[]).unwrap_err();
    assert!(wrong.starts_with("the setting `till.port` is wrong: "), "{wrong}");
}

#[test]
fn a_misspelt_setting_is_an_error_and_not_a_default() {
    let wrong =
        load_from("name = \"Kgosi\"\n[till]\nport = 80\npin = \"1\"\nopne = true\n", &[]).unwrap_err();
    assert_eq!(
        wrong,
        "the setting `till.opne` is unknown: what can be set here is port, pin, open; \
         take it out of the environment (VENDGATE__TILL__OPNE) or out of shop.toml"
    );
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_named() {
    let absent =
        load_with::<Merchant>(Some(Path::new("/no/such/shop.toml")), Some(HashMap::new()), None, |_, _| ())
            .unwrap_err();
    assert!(absent.to_string().contains("/no/such/shop.toml"), "{absent}");
    let garbage = load_from("[till]\npin = \"hunter2", &[]).unwrap_err();
    assert!(garbage.starts_with("the settings cannot be read: TOML parse error at line 2"), "{garbage}");
    assert!(garbage.contains("shop.toml") && !garbage.contains('\n'), "{garbage}");
    assert!(!garbage.contains("hunter2"), "{garbage}");
}

#[test]
fn settings_may_come_from_the_environment_alone() {
    let environment =
        [("VENDGATE__NAME", "Kgosi"), ("VENDGATE__TILL__PORT", "80"), ("VENDGATE__TILL__PIN", "1")];
    let environment = environment.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let merchant: Merchant = load_with(None, Some(environment.into()), None, |_, _| ()).unwrap();
    assert_eq!(merchant.till.port, 80);
    let error = load_with::<Merchant>(None, Some(HashMap::new()), None, |_, _| ()).unwrap_err();
    assert!(error.to_string().contains(" in a settings file (none was given), "), "{error}");
}

/// What a program needs that does without the rest of the settings.
#[derive(Debug, Deserialize)]
struct Parts {
    till: Till,
    #[serde(default)]
    stalls: HashMap<String, Till>,
}

#[test]
fn of_parts_only_the_mistakes_of_these_parts_are_reported() {
    let load = |environment: &[(&str, &str)]| {
        let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let parts = ["stalls.a", "till"];
        load_with::<Parts>(None, Some(environment.collect()), Some(&parts), |_, _| ())
            .map_err(|error| error.to_string())
    };
    let of_others = [("VENDGATE__STALLS__B__PORT", "wrong"), ("VENDGATE__STORE__PASSWORD", "CHANGE-ME")];
    let till = [("VENDGATE__TILL__PORT", "80"), ("VENDGATE__TILL__PIN", "1")];
    let loaded = load(&[&of_others[..], &till].concat()).unwrap();
    assert_eq!((loaded.till.port, loaded.stalls.len()), (80, 0));
    let spoilt = [("VENDGATE__STALLS__A__PORT", "wrong"), ("VENDGATE__STALLS__A__PIN", "CHANGE-ME")];
    let wrong = load(&[&of_others[..], &till, &spoilt].concat()).unwrap_err();
    assert!(wrong.contains("`stalls.a.port`") && wrong.contains("stalls.a.pin"), "{wrong}");
    assert!(!wrong.contains("stalls.b") && !wrong.contains("store"), "{wrong}");
}

/// One of each kind of setting that a binary of this workspace has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Market {
    name: String,
    listen: std::net::SocketAddr,
    #[serde(default)]
    stalls: HashMap<String, Stall>,
    #[serde(default)]
    hours: [u8; 2],
    light: Light,
    till: Till,
    #[serde(default)]
    _elsewhere: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stall {
    Fruit(Fruit),
    Empty,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fruit {
    kinds: Vec<String>,
    price: f64,
    owner: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Light {
    Lamp,
    Sun,
}

fn market(toml: &str, environment: &[(&str, &str)]) -> Result<Market, Vec<String>> {
    let values = Config::builder().add_source(File::from_str(toml, FileFormat::Toml));
    let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let environment =
        Environment::with_prefix("VENDGATE").separator("__").source(Some(environment.collect()));
    let values = values.add_source(environment).build().unwrap();
    let (settings, mistakes) = reader::read::<Market>(&values.cache);
    let reported = mistakes.iter().map(ToString::to_string).collect();
    if mistakes.is_empty() { Ok(settings.unwrap()) } else { Err(reported) }
}

#[test]
fn settings_of_every_kind_are_read() {
    let toml = "name = \"Broadhurst\"\nlisten = \"127.0.0.1:80\"\nhours = [8, 17]\nlight = \"SUN\"\n\
                [stalls.a.fruit]\nkinds = [\"fig\"]\nprice = 2\n[stalls]\nb = \"empty\"\n\
                [till]\nport = 1\npin = \"2\"\n[_elsewhere]\nwhatever = [1]\n";
    let market = market(toml, &[("VENDGATE__STALLS__A__FRUIT__OWNER", "7")]).unwrap();
    assert_eq!((market.name.as_str(), market.hours, market.listen.port()), ("Broadhurst", [8, 17], 80));
    assert_eq!(market.till.pin, "2");
    assert!(matches!(market.light, Light::Sun) && matches!(market.stalls["b"], Stall::Empty));
    let Stall::Fruit(fruit) = &market.stalls["a"] else { panic!("{market:?}") };
    assert_eq!((fruit.kinds.as_slice(), fruit.owner.as_deref()), (["fig".to_owned()].as_slice(), Some("7")));
    assert!((1.9..2.1).contains(&fruit.price));
}

#[test]
fn every_mistake_of_every_section_is_found_at_once() {
    let toml = "nam = \"Broadhurst\"\nlisten = \"hunter2\"\nhours = [8]\nlight = \"hunter2\"\n\
                [stalls.a.fruit]\nkinds = \"hunter2\"\nowner = []\n[stalls.b.meat]\n[stalls.c.fruit]\npricey = 1\n\
                [till]\nport = 70000\npen = 1\nopen = 3.5\n";
    let reported = market(toml, &[("VENDGATE__TILL__PIN_CODE", "hunter2")]).unwrap_err();
    assert_eq!(
        reported,
        [
            "`hours` is wrong: an array of length 2 is expected",
            "`light` is wrong: one of LAMP, SUN is expected",
            "`listen` is wrong: invalid socket address syntax",
            "`nam` is unknown: what can be set here is name, listen, stalls, hours, light, till, _elsewhere",
            "`name` is missing",
            "`stalls.a.fruit.kinds` is wrong: a list is expected",
            "`stalls.a.fruit.owner` is wrong: a text is expected",
            "`stalls.a.fruit.price` is missing",
            "`stalls.b` is wrong: one of fruit, empty is expected",
            "`stalls.c.fruit.kinds` is missing",
            "`stalls.c.fruit.price` is missing",
            "`stalls.c.fruit.pricey` is unknown: what can be set here is kinds, price, owner",
            "`till.open` is wrong: true or false is expected",
            "`till.pen` is unknown: what can be set here is port, pin, open",
            "`till.pin` is missing",
            "`till.pin_code` is unknown: what can be set here is port, pin, open",
            "`till.port` is wrong: an integer from 0 to 65535 is expected",
        ]
    );
}

#[test]
fn of_a_missing_section_all_that_it_must_hold_is_named() {
    let reported = market("name = \"Broadhurst\"\ntill = 5\n", &[]).unwrap_err();
    assert_eq!(
        reported,
        [
            "`light` is missing",
            "`listen` is missing",
            "`till` is wrong: a section is expected",
            "`till.pin` is missing",
            "`till.port` is missing",
        ]
    );
    let reported = market("name = \"Broadhurst\"\nlight = \"SUN\"\nlisten = \"[::1]:1\"\n", &[]).unwrap_err();
    assert_eq!(reported, ["`till.pin` is missing", "`till.port` is missing"]);
}

#[test]
fn several_mistakes_are_reported_on_one_line_and_a_rule_only_for_a_correct_section() {
    let spoilt = load_from("nmae = \"Kgosi\"\n[till]\nport = \"x\"\npin = \"\"\nopen = true\n", &[]);
    assert_eq!(
        spoilt.unwrap_err(),
        "3 settings must be corrected in shop.toml, or in the environment (`name` is VENDGATE__NAME there): \
         `name` is missing; `nmae` is unknown: what can be set here is name, till; \
         `till.port` is wrong: an integer is expected"
    );
    let ruled = load_from("nmae = \"Kgosi\"\n[till]\nport = 1\npin = \"\"\nopen = true\n", &[]);
    let ruled = ruled.unwrap_err();
    assert!(ruled.ends_with("; `till` is wrong: the pin of an open till must not be empty"), "{ruled}");
}

#[test]
fn a_number_with_a_fraction_is_no_integer_and_a_truth_is_no_number() {
    for port in ["1.0", "true", "[]", "\"\""] {
        let error = load_from(&format!("name = \"Kgosi\"\n[till]\nport = {port}\npin = \"1\"\n"), &[]);
        assert!(error.unwrap_err().starts_with("the setting `till.port` is wrong: an integer is expected;"));
    }
}

#[test]
fn a_placeholder_that_was_not_replaced_is_refused_beside_other_mistakes() {
    let environment = [("VENDGATE__TILL__PIN", "postgres://till:change-me@host/till")];
    let error = load_from("name = \"CHANGE-ME\"\n[till]\nport = 80\nopn = 1\n", &environment).unwrap_err();
    assert!(error.starts_with("3 settings must be corrected"), "{error}");
    for key in ["name", "till.pin"] {
        let mistake =
            format!("`{key}` is wrong: it contains the placeholder CHANGE-ME, which you must replace");
        assert!(error.contains(&mistake), "{error}");
    }
    assert!(!error.contains("postgres"), "{error}");
}
