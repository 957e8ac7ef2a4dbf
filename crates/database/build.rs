//! Migrations are embedded by a macro, which cargo cannot see through: a new one must rebuild this crate.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
