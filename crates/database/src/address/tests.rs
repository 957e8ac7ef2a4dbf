//! What an address says, and which addresses are refused.

use super::{Address, AddressError, Mode, Protection, one_for_each_host};

fn mode(url: &str) -> Result<Mode, AddressError> {
    Protection::taken_from(url)?.1.mode()
}

#[test]
fn the_modes_are_those_of_libpq() {
    for (query, expected) in [
        ("", Mode::Disable),
        ("?sslmode=disable", Mode::Disable),
        ("?sslmode=prefer", Mode::Prefer),
        ("?sslmode=require", Mode::Require),
        ("?sslmode=require&sslrootcert=ca.pem", Mode::VerifyCa),
        ("?sslmode=verify-ca", Mode::VerifyCa),
        ("?sslmode=verify-full", Mode::VerifyFull),
        ("?sslrootcert=ca.pem", Mode::VerifyFull),
    ] {
        let found = mode(&format!("postgres://api@db.example/vendgate{query}"));
        assert_eq!(found.unwrap(), expected, "{query}");
    }
    let unknown = mode("postgres://api@db.example/vendgate?sslmode=verify_full").unwrap_err();
    assert!(unknown.to_string().contains("sslmode=verify_full, which must be"), "{unknown}");
}

#[test]
fn an_authority_that_no_mode_verifies_is_refused() {
    for idle in ["disable", "prefer"] {
        let url = format!("postgres://api@db.example/vendgate?sslmode={idle}&sslrootcert=ca.pem");
        let refused = mode(&url).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("sslrootcert and sslmode={idle}, which verifies nothing")),
            "{refused}"
        );
    }
}

#[test]
fn the_other_parameters_reach_the_driver() {
    let url = "postgres://api@a.example,b.example/vendgate?target_session_attrs=read-write&sslmode=require";
    let (rest, _) = Protection::taken_from(url).unwrap();
    assert_eq!(rest, "postgres://api@a.example,b.example/vendgate?target_session_attrs=read-write");
    let unknown = Address::parse("postgres://api@db.example/vendgate?sslcrl=crl.pem");
    assert!(matches!(unknown, Err(AddressError::Malformed)));
}

#[test]
fn each_host_has_the_whole_address() {
    let urls = |url| one_for_each_host(url).collect::<Vec<_>>();
    assert_eq!(
        urls("postgres://api:a,b@a.example:5432,b.example/vendgate?connect_timeout=2"),
        [
            "postgres://api:a,b@a.example:5432/vendgate?connect_timeout=2",
            "postgres://api:a,b@b.example/vendgate?connect_timeout=2"
        ]
    );
    assert_eq!(urls("postgres://a.example,b.example"), ["postgres://a.example", "postgres://b.example"]);
    let address = Address::parse("postgres://api@a.example,b.example:5433/vendgate").unwrap();
    let ports: Vec<_> = address.hosts().iter().flat_map(|host| host.config.get_ports()).collect();
    assert_eq!(ports, [&5432, &5433]);
    assert!(matches!(Address::parse("postgres://api@a.example,,/vendgate"), Err(AddressError::Malformed)));
}

#[test]
fn no_form_of_an_address_loses_its_mode() {
    for encrypted in [
        "postgres://api:secr?t@db.example/vendgate?sslmode=require",
        "postgresql://api@db.example/vendgate?ssl%6Dode=require",
        "postgres://db.example/vendgate?sslmode=require",
    ] {
        assert_eq!(mode(encrypted).unwrap(), Mode::Require, "{encrypted}");
        assert!(Address::parse(encrypted).unwrap().hosts[0].tls.is_some(), "{encrypted}");
    }
    let of_the_driver = "host=db.example user=api password=secret sslmode=require";
    assert!(matches!(Address::parse(of_the_driver), Err(AddressError::Malformed)));
    let swallowed = "postgres://api@db.example/vendgate?sslmode=require password=hunter2";
    assert!(matches!(Address::parse(swallowed), Err(AddressError::Malformed)));
}

#[test]
fn an_authority_that_cannot_be_read_is_named_and_no_password_is() {
    let address = Address::parse("postgres://api:secret@db.example/vendgate?sslrootcert=/nowhere/ca.pem");
    let error = address.err().unwrap().to_string();
    assert_eq!(
        error,
        "database_url has sslrootcert=/nowhere/ca.pem, which cannot be read as PEM certificates"
    );
}

#[test]
fn a_certificate_without_its_key_or_on_a_connection_that_may_be_plain_is_refused() {
    for half in ["sslcert=a.pem", "sslkey=a.key"] {
        let address =
            Address::parse(&format!("postgres://console@db.example/vendgate?sslmode=require&{half}"));
        assert!(matches!(address, Err(AddressError::HalfACertificate)), "{half}");
    }
    for plain in ["", "&sslmode=disable", "&sslmode=prefer"] {
        let both = format!("postgres://console@db.example/vendgate?sslcert=a.pem&sslkey=a.key{plain}");
        assert!(matches!(Address::parse(&both), Err(AddressError::CertificateUnsent)), "{plain}");
    }
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let address = Address::parse(
        "postgres://console@db.example/vendgate?sslmode=require&sslcert=/nowhere/a.pem&sslkey=/nowhere/a.key",
    );
    let error = address.err().unwrap().to_string();
    assert_eq!(error, "database_url has sslcert=/nowhere/a.pem, which cannot be read as PEM certificates");
}
