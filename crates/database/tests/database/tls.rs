//! The connection to the database over TLS, against a real server with certificates of this test's own authority.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use database::{Database, DatabaseError, DatabaseSettings, Purpose, migrate};
use local_postgres::LocalPostgres;
use test_kit::tls_server::{ClientFiles, TlsServer};
use tokio::runtime::Runtime;

/// How many of our connections the server has encrypted.
const ENCRYPTED: &str = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name = 'vendgate' AND ssl";

fn server_for(name: &str, hba: &[&str], ident: &[&str]) -> TlsServer {
    TlsServer::start(name, Path::new(env!("CARGO_TARGET_TMPDIR")), hba, ident)
}

/// The superuser's address on this host, with parameters. `{ca}` stands for the path of the authority.
fn address(server: &TlsServer, host: &str, parameters: &str) -> String {
    let authority = server.authority.to_string_lossy().replace(' ', "%20");
    let url = server.database.url().replace("@127.0.0.1", &format!("@{host}"));
    format!("{url}?{}", parameters.replace("{ca}", &authority))
}

/// Connects; on success returns how many of our connections are encrypted.
fn connects(server: &TlsServer, host: &str, parameters: &str) -> Result<u32, DatabaseError> {
    let runtime = Runtime::new().unwrap();
    let _connected = connect(&runtime, address(server, host, parameters))?;
    Ok(server.database.run_sql(ENCRYPTED).unwrap().parse().unwrap())
}

fn connect(runtime: &Runtime, url: String) -> Result<Database, DatabaseError> {
    let settings = DatabaseSettings::for_database(url);
    runtime.block_on(Database::connect(settings, Purpose::General, runtime.handle().clone()))
}

/// Every cause of an error, outermost first.
fn causes(error: &DatabaseError) -> String {
    let mut causes = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        causes = format!("{causes}: {cause}");
        next = cause.source();
    }
    causes
}

#[test]
fn verify_full_accepts_the_right_certificate_and_refuses_every_other() {
    let server = server_for("localhost", &[], &[]);
    assert_eq!(connects(&server, "localhost", "sslmode=disable").unwrap(), 0);
    for encrypted in
        ["sslmode=prefer", "sslmode=require", "sslmode=verify-full&sslrootcert={ca}", "sslrootcert={ca}"]
    {
        assert!(connects(&server, "localhost", encrypted).unwrap() > 0, "{encrypted}");
    }

    let other_name = connects(&server, "127.0.0.1", "sslmode=verify-full&sslrootcert={ca}").unwrap_err();
    assert!(causes(&other_name).contains("certificate not valid for name"), "{}", causes(&other_name));
    assert!(connects(&server, "127.0.0.1", "sslmode=verify-ca&sslrootcert={ca}").unwrap() > 0);

    let unknown = connects(&server, "localhost", "sslmode=verify-full&sslrootcert=system").unwrap_err();
    assert!(causes(&unknown).contains("UnknownIssuer"), "{}", causes(&unknown));
    let neighbour = server_for("127.0.0.1", &[], &[]);
    let parameters =
        format!("sslmode=verify-full&sslrootcert={}", neighbour.authority.display()).replace(' ', "%20");
    for mode in ["verify-full", "verify-ca", "require"] {
        let error = connects(&server, "localhost", &parameters.replace("verify-full", mode)).unwrap_err();
        // The two authorities have the same name, so the signature tells them apart.
        assert!(causes(&error).contains("BadSignature"), "{mode}: {}", causes(&error));
    }
    assert!(connects(&neighbour, "127.0.0.1", "sslmode=verify-full&sslrootcert={ca}").unwrap() > 0);
}

#[test]
fn a_server_without_encryption_is_refused_where_it_is_required() {
    let postgres = LocalPostgres::shared();
    let database = postgres.create_database("unencrypted").unwrap();
    let runtime = Runtime::new().unwrap();
    let url = format!("{}?sslmode=require", database.url());
    let error = connect(&runtime, url.clone()).unwrap_err();
    assert!(causes(&error).contains("server does not support TLS"), "{}", causes(&error));

    let error = runtime.block_on(migrate(&url.into())).unwrap_err();
    assert!(causes(&error).contains("server does not support TLS"), "{}", causes(&error));
}

/// The address of a login without a password, with a client's certificate.
fn certified(server: &TlsServer, login: &str, client: &ClientFiles) -> String {
    let url = server.database.url_as(login, "").replace(":@127.0.0.1", "@localhost");
    format!("{url}?{}", server.parameters(client))
}

#[test]
fn a_client_certificate_is_each_login_that_the_map_of_the_server_gives_it_and_no_other() {
    let hba = ["hostssl all naledi,thabo,mpho all cert map=console"];
    let ident = ["console vendgate-console naledi", "console vendgate-console thabo"];
    let server = server_for("localhost", &hba, &ident);
    for login in ["naledi", "thabo", "mpho"] {
        server.database.run_sql(&format!("CREATE ROLE {login} LOGIN IN ROLE vendgate_operator")).unwrap();
    }
    let runtime = Runtime::new().unwrap();
    let console = server.certifies("vendgate-console").unwrap();
    for login in ["naledi", "thabo"] {
        let connected = connect(&runtime, certified(&server, login, &console)).unwrap();
        let logins = "SELECT string_agg(DISTINCT usename, ' ') FROM pg_stat_activity WHERE application_name = 'vendgate'";
        assert_eq!(server.database.run_sql(logins).unwrap(), login);
        drop(connected);
        server
            .database
            .run_sql("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE application_name = 'vendgate'")
            .unwrap();
    }
    let not_of_the_map = connect(&runtime, certified(&server, "mpho", &console)).unwrap_err();
    assert!(
        causes(&not_of_the_map).contains("certificate authentication failed"),
        "{}",
        causes(&not_of_the_map)
    );
    let other = server.certifies("another-program").unwrap();
    let other_name = connect(&runtime, certified(&server, "naledi", &other)).unwrap_err();
    assert!(causes(&other_name).contains("certificate authentication failed"), "{}", causes(&other_name));
    let forged = server.does_not_certify("vendgate-console").unwrap();
    connect(&runtime, certified(&server, "naledi", &forged)).unwrap_err();
    // Without a certificate the server does not let this login in.
    let plain = server.database.url_as("naledi", "").replace(":@127.0.0.1", "@localhost");
    connect(&runtime, format!("{plain}?sslmode=require")).unwrap_err();

    fs::set_permissions(&console.key, fs::Permissions::from_mode(0o644)).unwrap();
    let exposed =
        DatabaseSettings::for_database(certified(&server, "naledi", &console)).checked().unwrap_err();
    assert!(exposed.to_string().contains("which others may read"), "{exposed}");
    let strange = ClientFiles { key: other.key, ..console };
    let strange =
        DatabaseSettings::for_database(certified(&server, "naledi", &strange)).checked().unwrap_err();
    assert!(strange.to_string().contains("cannot be used as the PEM private key"), "{strange}");
}
