//! What is to be bought, and over which surfaces.

use std::fmt;

use crate::surface::{Surface, body, quoted};

/// What is to be bought.
#[derive(Clone, Debug)]
pub struct Order {
    pub account: i64,
    pub subscriber: String,
    pub external_reference: String,
    /// As a JSON number.
    pub amount: String,
    pub route: Route,
}

/// The surface of the confirm and the surface of the retry. They differ for a client that is migrating from one
/// surface to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    confirm: Surface,
    retry: Surface,
    /// Only on a surface that has keys.
    is_keyed: bool,
}

impl Route {
    /// Both over one surface.
    pub const fn over(surface: Surface) -> Self {
        Self { confirm: surface, retry: surface, is_keyed: false }
    }

    /// Alternates between the surfaces. Every fifth order is retried over the other surface.
    pub fn of(number: usize) -> Self {
        let surface = *Surface::ALL.iter().cycle().nth(number).unwrap();
        let route = Self::over(surface);
        if number % 5 == 4 { route.retried_over(surface.other()) } else { route }
    }

    /// The same route, retried over this surface.
    #[must_use]
    pub const fn retried_over(self, retry: Surface) -> Self {
        Self { retry, ..self }
    }

    /// The same route, with the external reference as the idempotency key if that is wanted and the surface has keys.
    #[must_use]
    pub const fn keyed(self, is_wanted: bool) -> Self {
        Self { is_keyed: is_wanted && self.confirm.has_keys(), ..self }
    }

    /// The surface of the retry.
    pub const fn retry(self) -> Surface {
        self.retry
    }

    /// The surface of the confirm.
    pub const fn confirm(self) -> Surface {
        self.confirm
    }

    /// Whether it is confirmed under a key.
    pub const fn is_keyed(self) -> bool {
        self.is_keyed
    }
}

impl fmt::Display for Route {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { confirm, retry, is_keyed } = self;
        let key = if *is_keyed { ", keyed" } else { "" };
        write!(out, "over {confirm:?}{key}, retried over {retry:?}")
    }
}

impl Order {
    /// The body of the confirm.
    pub(super) fn confirm(&self) -> String {
        let mut fields = self.route.confirm.order(self.account, &self.subscriber, &self.amount);
        fields.push(("external_reference", quoted(&self.external_reference)));
        body(&fields)
    }

    /// The body of the retry.
    pub(super) fn retry(&self) -> String {
        body(&self.route.retry.question(&self.subscriber, &self.external_reference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_versioned_surface_has_keyed_orders() {
        assert!(Route::over(Surface::V1).keyed(true).is_keyed());
        assert!(!Route::over(Surface::V1).keyed(false).is_keyed());
        assert!(!Route::over(Surface::Current).keyed(true).is_keyed());
        assert!(!Route::over(Surface::Current).retried_over(Surface::V1).keyed(true).is_keyed());
    }

    #[test]
    fn of_ten_in_a_row_one_crosses_over_from_each_surface() {
        let crossing = (0..10).map(Route::of).filter(|route| route.confirm() != route.retry());
        assert_eq!(crossing.map(Route::confirm).collect::<Vec<_>>(), [Surface::V1, Surface::Current]);
    }
}
