//! Where telemetry goes.

#[cfg(feature = "otel")]
use std::collections::BTreeMap;
use std::path::Path;
#[cfg(feature = "otel")]
use std::{path::PathBuf, time::Duration};

#[cfg(feature = "otel")]
use http::{HeaderMap, HeaderName, HeaderValue};
#[cfg(feature = "otel")]
use serde::Deserialize;
use toml::Spanned;

use super::Fault;
#[cfg(feature = "otel")]
use super::{duration::time, upstream::base};
#[cfg(feature = "otel")]
use crate::listen::roots;
use crate::telemetry::Collector;

/// The table `telemetry` of a file.
#[cfg(feature = "otel")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TelemetryFile {
    endpoint: Spanned<String>,
    ca: Option<Spanned<PathBuf>>,
    #[serde(default)]
    headers_env: BTreeMap<Spanned<String>, Spanned<String>>,
    service: Option<String>,
    every: Option<Spanned<String>>,
    sample: Option<Spanned<f64>>,
}

/// The table `telemetry` of a file, which this program cannot follow.
#[cfg(not(feature = "otel"))]
pub(super) type TelemetryFile = serde::de::IgnoredAny;

/// The collector that a file names.
#[cfg(not(feature = "otel"))]
pub(super) fn build(file: &Spanned<TelemetryFile>, text: &str, _: &Path) -> Result<Collector, Fault> {
    let message = "expected a program with the feature otel beside telemetry, found one without: build it with \
                   `cargo build -p gateway --features otel`";
    Err(Fault::at(text, &file.span(), message))
}

/// The collector that a file names.
#[cfg(feature = "otel")]
pub(super) fn build(file: &Spanned<TelemetryFile>, text: &str, directory: &Path) -> Result<Collector, Fault> {
    let TelemetryFile { endpoint, ca, headers_env, service, every, sample } = file.get_ref();
    let address = base(endpoint.get_ref()).map_err(|message| Fault::at(text, &endpoint.span(), message))?;
    let ca = match ca {
        Some(ca) if address.scheme_str() != Some("https") => {
            let message = format!("expected an https address beside ca, found {:?}", endpoint.get_ref());
            return Err(Fault::at(text, &ca.span(), message));
        }
        Some(ca) => {
            let file = directory.join(ca.get_ref());
            let wrong = |message: String| Fault::at(text, &ca.span(), message);
            // What is no certificate is found here, and not at the first export.
            roots(&file).map_err(wrong)?;
            Some(std::fs::read(&file).map_err(|error| wrong(format!("{}: {error}", file.display())))?)
        }
        None => None,
    };
    let sample = match sample {
        Some(sample) if !(0.0..=1.0).contains(sample.get_ref()) => {
            let message = format!("expected a part from 0.0 to 1.0, found {}", sample.get_ref());
            return Err(Fault::at(text, &sample.span(), message));
        }
        Some(sample) => *sample.get_ref(),
        None => 1.0,
    };
    let every = every.as_ref().map(|every| time(every, text));
    Ok(Collector {
        endpoint: endpoint.get_ref().clone(),
        ca,
        headers: headers(headers_env, text)?,
        service: service.clone().unwrap_or_else(|| "gateway".to_owned()),
        every: every.transpose()?.unwrap_or(EVERY),
        sample,
    })
}

/// Reads headers whose values stand in environment variables. The values are never told.
#[cfg(feature = "otel")]
fn headers(named: &BTreeMap<Spanned<String>, Spanned<String>>, text: &str) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    for (header, variable) in named {
        let name = HeaderName::from_bytes(header.get_ref().as_bytes()).map_err(|_| {
            let message = format!("expected the name of a header, found {:?}", header.get_ref());
            Fault::at(text, &header.span(), message)
        })?;
        let value = std::env::var(variable.get_ref()).ok().filter(|value| !value.trim().is_empty());
        let value = value.and_then(|value| HeaderValue::from_str(value.trim()).ok());
        let mut value = value.ok_or_else(|| {
            let name = variable.get_ref();
            let message =
                format!("expected a value for a header in the environment variable {name:?}, found none");
            Fault::at(text, &variable.span(), message)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// How often telemetry is sent.
#[cfg(feature = "otel")]
const EVERY: Duration = Duration::from_secs(10);
