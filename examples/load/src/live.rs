//! The bytes of this process's heap that are in use.
//!
//! What an allocator keeps for later is memory of the process and no leak; bytes in use that do not go back are one.

#[cfg(feature = "live")]
#[global_allocator]
static HEAP: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// How many bytes are in use. `None` without the feature `live`.
pub(crate) fn bytes() -> Option<usize> {
    #[cfg(feature = "live")]
    {
        let stats = HEAP.stats();
        Some(stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated))
    }
    #[cfg(not(feature = "live"))]
    None
}
