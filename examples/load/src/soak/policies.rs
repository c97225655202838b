//! The policies of the soak, and a judge that hangs.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use stream_core::{Chain, Limits, Verdict};
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_policies::judge::CompletedCall;
use stream_policies::{Preset, RedactSettings, SettingsError, ToolGate, ToolGateSettings};

/// How many judges have not answered yet.
pub(super) type Judges = Arc<AtomicUsize>;

/// A service behind the policies.
pub(super) fn police(service: Router, idle: Duration, judges: Judges) -> Result<Router, SettingsError> {
    let gate = ToolGate::new(move |call: CompletedCall| {
        let asked = Asked::new(&judges);
        async move {
            let _asked = asked;
            match call.name() {
                ALLOWED => Ok(Verdict::Release),
                HANGS => pending().await,
                _ => Ok(Verdict::drop("a tool that is not allowed")),
            }
        }
    });
    let gate = gate.settings(ToolGateSettings::default().deadline(DEADLINE));
    let redact = RedactSettings::default().preset(Preset::ApiKey).preset(Preset::CloudKey).build()?;
    // Without keep-alives an answer has the same bytes however long it takes.
    let limits = Limits::default().frame(FRAME).idle(idle).keep_alive(None);
    let plan = move |_: &Facts| Plan::from(Chain::new().then(gate.clone()).then(redact.clone()));
    Ok(service.layer(PolicyLayer::with_settings(Settings::new().limits(limits), plan)))
}

/// A question under way. Dropping it is what a cancelled judge does.
struct Asked(Judges);

impl Asked {
    fn new(judges: &Judges) -> Self {
        judges.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(judges))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) const ALLOWED: &str = "read_file";
pub(super) const DENIED: &str = "rm";
pub(super) const HANGS: &str = "ask_somebody";
/// The longest frame, in bytes.
pub(super) const FRAME: usize = 32 << 10;
/// How long a judge may take.
const DEADLINE: Duration = Duration::from_secs(1);
