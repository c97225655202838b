//! Who is told of what happens.

use super::meter::Meter;
use super::record::Recordings;
use crate::config::Config;
use crate::live::Live;
use crate::telemetry::Telemetry;

/// Who is told of what happens: the counts, the live page, a collector, recordings. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Eyes {
    pub(crate) meter: Meter,
    pub(crate) live: Option<Live>,
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) recordings: Recordings,
}

impl Eyes {
    /// Those that a configuration asks for.
    pub(crate) fn new(config: &Config, live: Option<Live>) -> Result<Self, String> {
        let telemetry = config.telemetry.as_ref().map(Telemetry::start).transpose()?;
        Ok(Self { meter: Meter::default(), live, telemetry, recordings: Recordings::default() })
    }

    /// The program ends: what was not told or written yet is told and written now.
    pub(crate) async fn close(self) {
        self.recordings.written().await;
        if let Some(telemetry) = self.telemetry {
            telemetry.finish().await;
        }
    }
}
