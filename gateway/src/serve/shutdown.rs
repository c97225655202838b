//! When to stop.

/// Waits until the program is asked to stop: open streams are finished then, and no new ones taken. Asked again, it
/// stops at once.
pub(crate) async fn asked() {
    signal().await;
    tracing::info!("stopping: open streams are finished; ask again to stop at once");
    tokio::spawn(async {
        signal().await;
        tracing::warn!("stopped with streams under way");
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return interrupted().await };
    tokio::select! {
        () = interrupted() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    interrupted().await;
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler there is nothing to wait for.
        std::future::pending::<()>().await;
    }
}
