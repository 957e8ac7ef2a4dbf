//! Limits how many logins may wait for the password hash: in total, and at most half of them for one OAuth client.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The places in which password checks run and wait. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    places: Arc<Mutex<Places>>,
    max: usize,
    max_of_one_client: usize,
}

#[derive(Debug, Default)]
struct Places {
    taken: usize,
    by_client: HashMap<i64, usize>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    queue: Queue,
    client: i64,
}

impl Queue {
    /// A queue of `max` places, at least one of them for each client.
    pub(crate) fn new(max: usize) -> Self {
        Self { places: Arc::default(), max, max_of_one_client: max.div_ceil(2) }
    }

    /// A place for a login of this client. `None` if all places, or all places of one client, are taken.
    pub(crate) fn enter(&self, client: i64) -> Option<Place> {
        let mut places = self.places();
        let of_client = places.by_client.get(&client).copied().unwrap_or_default();
        if places.taken >= self.max || of_client >= self.max_of_one_client {
            return None;
        }
        places.taken = places.taken.saturating_add(1);
        places.by_client.insert(client, of_client.saturating_add(1));
        Some(Place { queue: self.clone(), client })
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.queue.places();
        places.taken = places.taken.saturating_sub(1);
        let left = places.by_client.get(&self.client).copied().unwrap_or_default().saturating_sub(1);
        if left == 0 {
            places.by_client.remove(&self.client);
        } else {
            places.by_client.insert(self.client, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_takes_half_of_the_places_and_leaves_the_rest_to_others() {
        let queue = Queue::new(4);
        let greedy = [queue.enter(1), queue.enter(1), queue.enter(1)];
        assert_eq!(greedy.each_ref().map(Option::is_some), [true, true, false]);
        let others = [queue.enter(2), queue.enter(3), queue.enter(4)];
        assert_eq!(others.each_ref().map(Option::is_some), [true, true, false]);

        drop(greedy);
        assert!(queue.enter(1).is_some(), "a place that was freed can be taken again");
        drop(others);
        let places = queue.places();
        assert_eq!((places.taken, places.by_client.len()), (0, 0));
    }

    #[test]
    fn the_shortest_queue_admits_one() {
        let queue = Queue::new(1);
        let first = queue.enter(1);
        assert!(first.is_some() && queue.enter(2).is_none());
    }
}
