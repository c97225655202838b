//! When to stop.

/// A future that resolves when the program is asked to stop: open streams are finished then, and no new ones taken. Asked
/// again, the program stops at once.
///
/// Signals are caught from this call on, not from the first poll: whoever reads that the program serves may ask it to stop.
pub(crate) fn asked() -> impl Future<Output = ()> {
    let mut signals = Signals::catch();
    async move {
        signals.next().await;
        tracing::info!("stopping: open streams are finished; ask again to stop at once");
        tokio::spawn(async move {
            signals.next().await;
            tracing::warn!("stopped with streams under way");
            std::process::exit(130);
        });
    }
}

/// The signals that ask the program to stop. A signal for which no handler could be installed ends the program as the
/// system does.
#[cfg(unix)]
struct Signals([Option<tokio::signal::unix::Signal>; 2]);

#[cfg(unix)]
impl Signals {
    fn catch() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self([SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()))
    }

    async fn next(&mut self) {
        std::future::poll_fn(|cx| {
            let mut caught = self.0.iter_mut().flatten();
            match caught.any(|signal| signal.poll_recv(cx).is_ready()) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn catch() -> Self {
        Self
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler there is nothing to wait for.
            std::future::pending::<()>().await;
        }
    }
}
