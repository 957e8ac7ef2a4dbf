//! A wire to the database that can be cut at a commit, before or after the server has done it, or in which a commit
//! can lie for as long as the test likes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use local_postgres::Database;
use store::StoreSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::town::settings;

/// What becomes of the next commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server keeps it, and its answer is swallowed.
    Acknowledgement,
    /// It never reaches the server.
    Commit,
    /// It lies in a buffer on its way, and nobody knows, until [`Wire::delivers`].
    Delay,
}

const WHOLE: u8 = 0;

#[derive(Clone)]
pub struct Wire {
    address: SocketAddr,
    next: Arc<AtomicU8>,
    delayed: Arc<Notify>,
}

impl Wire {
    pub async fn to(database: &Database) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let wire = Self {
            address: listener.local_addr().unwrap(),
            next: Arc::new(AtomicU8::new(WHOLE)),
            delayed: Arc::default(),
        };
        let server = server_of(database);
        let carried = wire.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), carried.clone()));
            }
        });
        wire
    }

    /// Settings that lead through the wire.
    pub fn settings(&self, database: &Database) -> StoreSettings {
        let url = database.url_as("test_server", "test_server");
        let url = url.replace(&server_of(database), &self.address.to_string());
        StoreSettings { database_url: url.into(), ..settings(database) }
    }

    /// Cuts at the next commit, once.
    pub fn cut_at_next_commit(&self, cut: Cut) {
        self.next.store(code(cut), Ordering::SeqCst);
    }

    /// Has the delayed commit arrive after all.
    pub fn delivers(&self) {
        self.delayed.notify_one();
    }

    pub fn has_cut(&self) -> bool {
        self.next.load(Ordering::SeqCst) == WHOLE
    }
}

const fn code(cut: Cut) -> u8 {
    match cut {
        Cut::Acknowledgement => 1,
        Cut::Commit => 2,
        Cut::Delay => 3,
    }
}

/// `127.0.0.1:port` out of the database's address.
fn server_of(database: &Database) -> String {
    let url = database.url();
    let after_password = url.rsplit_once('@').unwrap().1;
    after_password.split_once('/').unwrap().0.to_owned()
}

async fn carry(mut client: TcpStream, server: String, wire: Wire) {
    let mut server = TcpStream::connect(server).await.unwrap();
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let message = &asked[..length];
                let commits = message.windows(6).any(|text| text == b"COMMIT");
                let cut = if commits { wire.next.swap(WHOLE, Ordering::SeqCst) } else { WHOLE };
                if cut == code(Cut::Commit) {
                    return;
                }
                if cut == code(Cut::Delay) {
                    wire.delayed.notified().await;
                }
                if server.write_all(message).await.is_err() {
                    return;
                }
                if cut == code(Cut::Acknowledgement) {
                    let _swallowed = server.read(&mut answered).await;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
