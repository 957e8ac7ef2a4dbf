//! The memory in which password hashes are computed.
//!
//! Argon2 fills 19 MiB for one hash. If they are allocated for each hash, from whichever thread runs it, the allocator
//! does not return them: a flood of logins took a server from 47 MB to 1.9 GB. So there is at most one buffer for each
//! hash that may run at once. A buffer is allocated when it is first needed, and is never grown or freed. A server
//! whose logins come one after another has one buffer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argon2::Block;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The buffers that are allocated and not in use. Clones share them.
#[derive(Clone)]
pub(crate) struct Memory {
    idle: Arc<Mutex<Vec<Box<[Block]>>>>,
    /// One permit for each buffer that may be in use.
    permits: Arc<Semaphore>,
    blocks_each: usize,
}

/// A buffer in use. It is returned when this is dropped.
pub(crate) struct Buffer {
    /// Empty until it is first needed.
    blocks: Box<[Block]>,
    memory: Memory,
    _permit: OwnedSemaphorePermit,
}

impl Memory {
    /// At most `buffers` of `blocks_each` blocks of 1 KiB.
    pub(crate) fn of(buffers: usize, blocks_each: usize) -> Self {
        Self { idle: Arc::default(), permits: Arc::new(Semaphore::new(buffers)), blocks_each }
    }

    /// A buffer, as soon as one is free, in the order of the calls. The one that was used last is used first.
    pub(crate) async fn take(&self) -> Buffer {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.expect("this semaphore is never closed");
        let blocks = self.idle().pop().unwrap_or_default();
        Buffer { blocks, memory: self.clone(), _permit: permit }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<[Block]>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    /// Allocates the blocks if this is the first use, which takes milliseconds: call it where a thread may block.
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        if self.blocks.is_empty() {
            self.blocks = vec![Block::new(); self.memory.blocks_each].into_boxed_slice();
        }
        &mut self.blocks
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // This happens before the permit is returned, because fields are dropped afterwards.
        let blocks = std::mem::take(&mut self.blocks);
        if !blocks.is_empty() {
            self.memory.idle().push(blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_buffer_is_waited_for_and_used_again() {
        let memory = Memory::of(1, 8);
        let mut first = memory.take().await;
        let address = first.blocks().as_ptr();
        let waited = tokio::time::timeout(Duration::from_millis(20), memory.take()).await;
        assert!(waited.is_err(), "there is one buffer only");
        drop(first);
        let mut second = memory.take().await;
        assert_eq!((second.blocks().as_ptr(), second.blocks().len()), (address, 8));
    }

    #[tokio::test]
    async fn a_second_buffer_is_allocated_only_for_two_hashes_at_once() {
        let memory = Memory::of(2, 8);
        drop(memory.take().await);
        assert!(memory.idle().is_empty(), "what was taken and not used is not allocated");
        for _ in 0..3 {
            memory.take().await.blocks();
            assert_eq!(memory.idle().len(), 1);
        }
        let (mut first, mut second) = (memory.take().await, memory.take().await);
        assert_ne!(first.blocks().as_ptr(), second.blocks().as_ptr());
        drop((first, second));
        assert_eq!(memory.idle().len(), 2);
    }
}
