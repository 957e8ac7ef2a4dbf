//! The memory in which password hashes are computed. It is allocated once, when the process starts.
//!
//! Argon2 fills 19 MiB for one hash. If they are allocated for each hash, from whichever thread runs it, the allocator
//! does not return them: a flood of logins took a server from 47 MB to 1.9 GB. So there is one buffer for each hash
//! that may run at once. No buffer is allocated, grown or freed later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argon2::Block;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The buffers that are not in use. Clones share them.
#[derive(Clone)]
pub(crate) struct Memory {
    idle: Arc<Mutex<Vec<Box<[Block]>>>>,
    /// One permit for each buffer.
    permits: Arc<Semaphore>,
}

/// A buffer in use. It is returned when this is dropped.
pub(crate) struct Buffer {
    blocks: Box<[Block]>,
    memory: Memory,
    _permit: OwnedSemaphorePermit,
}

impl Memory {
    /// Allocates `buffers` of `blocks_each` blocks of 1 KiB.
    pub(crate) fn allocate(buffers: usize, blocks_each: usize) -> Self {
        let idle = (0..buffers).map(|_| vec![Block::new(); blocks_each].into_boxed_slice()).collect();
        Self { idle: Arc::new(Mutex::new(idle)), permits: Arc::new(Semaphore::new(buffers)) }
    }

    /// A buffer, as soon as one is idle, in the order of the calls.
    pub(crate) async fn take(&self) -> Buffer {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.expect("this semaphore is never closed");
        let blocks = self.idle().pop().expect("there is an idle buffer for each free permit");
        Buffer { blocks, memory: self.clone(), _permit: permit }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<[Block]>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        &mut self.blocks
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // This happens before the permit is returned, because fields are dropped afterwards.
        self.memory.idle().push(std::mem::take(&mut self.blocks));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_buffer_is_waited_for_and_used_again() {
        let memory = Memory::allocate(1, 8);
        let mut first = memory.take().await;
        let address = first.blocks().as_ptr();
        let waited = tokio::time::timeout(Duration::from_millis(20), memory.take()).await;
        assert!(waited.is_err(), "there is one buffer only");
        drop(first);
        let mut second = memory.take().await;
        assert_eq!((second.blocks().as_ptr(), second.blocks().len()), (address, 8));
    }
}
