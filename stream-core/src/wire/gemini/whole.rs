//! Writing a whole body: one response, or an array of the responses of a stream.

use bytes::Bytes;

use super::rebuild::{Came, Closing};
use super::write::GeminiWriter;
use crate::delta::Span;
use crate::json;
use crate::wire::writer::{Templates as _, WholeBody};
use crate::wire::{Ending, Part};

/// The responses of a body.
struct Elements<'b> {
    responses: Vec<Came<'b>>,
    is_array: bool,
}

impl<'b> Elements<'b> {
    fn of(body: &'b [u8]) -> Self {
        let data = std::str::from_utf8(body).unwrap_or_default();
        let elements = if data.trim_start().starts_with('[') { json::items(data) } else { None };
        let came = |element| Some(Came { data, span: Span::of(element, data)? });
        let responses = elements.as_ref().map(|elements| elements.iter().copied().filter_map(came).collect());
        Self { is_array: elements.is_some(), responses: responses.unwrap_or_else(|| vec![Came::all(data)]) }
    }

    /// The body of these responses.
    fn list(&self, mut responses: Vec<String>) -> String {
        match self.is_array {
            true => json::array(responses),
            false => responses.pop().unwrap_or_else(|| "{}".into()),
        }
    }
}

impl WholeBody for GeminiWriter {
    /// Writes each response of the body as one of a stream, and the refusal into the only response, or behind the last.
    fn body(&mut self, came: &Bytes, mut parts: &[Part], refusal: Option<&str>) -> String {
        let elements = Elements::of(came);
        let closing = match refusal {
            None => Closing::Own,
            Some(_) if elements.is_array => Closing::Later,
            Some(message) => Closing::Refused(message),
        };
        let mut responses = Vec::new();
        let mut untouched = refusal.is_none();
        for element in &elements.responses {
            let (of_element, later) = parts.split_at(belonging(parts, element.span));
            parts = later;
            self.remember(&came.slice_ref(element.text().as_bytes()), of_element);
            let mut written = Vec::new();
            self.response(Some(*element), of_element, closing, &mut written);
            untouched &= matches!(written[..], [None]);
            responses.extend(written.into_iter().map(|made| match made {
                Some(made) => self.in_order(&made, false).into_owned(),
                None => element.text().to_owned(),
            }));
        }
        if untouched {
            return String::from_utf8_lossy(came).into_owned();
        }
        if let Some(message) = refusal.filter(|_| elements.is_array || responses.is_empty()) {
            let refusal = self.refusal(&self.state.turns.choices(), message).finish();
            responses.push(self.in_order(&refusal, false).into_owned());
        }
        elements.list(responses)
    }

    fn error_body(&mut self, came: &Bytes, _parts: &[Part], ending: &Ending) -> String {
        Elements::of(came).list(vec![Self::error(ending).data.finish()])
    }
}

/// The number of parts that stand in this element of the array, or were inserted there.
fn belonging(parts: &[Part], element: Span) -> usize {
    let beyond = |part: &Part| part.came() && part.delta.site.element.start() >= element.end();
    parts.iter().position(beyond).unwrap_or(parts.len())
}
