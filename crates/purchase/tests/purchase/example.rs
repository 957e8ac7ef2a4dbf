//! The example of a purchase in doubt.

#[path = "../../examples/doubt.rs"]
mod doubt;

#[test]
fn the_example_is_confirmed_twice_vended_once_and_settled_by_a_retry() {
    let page = "\
confirm: reserve
confirm: send within 1800 ms
confirm: record LOST
confirm: answer IN_DOUBT
confirm: reserve
confirm: answer IN_DOUBT
retry: take turn
retry: claim
retry: enquire
retry: record VENDED
retry: answer Final, SUCCESSFUL
retry: answer Final, SUCCESSFUL
vends 1, wallet BWP 400.00, held BWP 0.00
";
    assert_eq!(doubt::page().unwrap(), page);
}
