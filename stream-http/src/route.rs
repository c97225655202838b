//! Which routes carry model output.

use http::Method;

use crate::Api;
use crate::path::Readings;

/// What a route is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// Its answers are model output of this API: they are policed.
    Policed(Api),
    /// Its answers are no model output: they pass as they come.
    Plain,
    /// Neither is known, or the path can be read in more than one way.
    Unknown,
}

/// Routes that a host adds to the known ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnRoutes(Vec<(Vec<String>, Route)>);

impl OwnRoutes {
    pub(crate) fn add(&mut self, path: &str, route: Route) {
        self.0.push((lower(&Readings::usual(path)), route));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (String, Route)> + '_ {
        self.0.iter().map(|(path, route)| (format!("/{}", path.join("/")), *route))
    }

    fn get(&self, path: &[String]) -> Option<Route> {
        let matches = |known: &[String]| match known.split_last() {
            Some((last, start)) if last == "*" => path.starts_with(start),
            _ => path == known,
        };
        self.0.iter().rev().find(|(known, _)| matches(known)).map(|(_, route)| *route)
    }
}

/// What a path is, in all its readings. A route that carries no model output has to be that in every reading; one that
/// does, in one, as long as no other reading contradicts it.
pub(crate) fn classify(method: &Method, path: &str, own: &OwnRoutes) -> Route {
    let Some(readings) = Readings::of(path) else { return Route::Unknown };
    let mut found: Option<Route> = None;
    let mut unknown = false;
    for reading in readings.iter() {
        let reading = lower(reading);
        let route = own.get(&reading).unwrap_or_else(|| known(method, &reading));
        match (route, found) {
            (Route::Unknown, _) => unknown = true,
            (_, Some(other)) if other != route => return Route::Unknown,
            _ => found = Some(route),
        }
    }
    match found {
        // An honest client has carried out the dots before it sends a path.
        Some(Route::Plain) if unknown || readings.has_dots() => Route::Unknown,
        Some(route) => route,
        None => Route::Unknown,
    }
}

/// The known routes, behind any prefix. One that carries model output wins over one that does not.
fn known(method: &Method, path: &[String]) -> Route {
    let tail: Vec<&str> = path.iter().map(String::as_str).collect();
    let route = google(&tail).or_else(|| generative(&tail)).or_else(|| plain(method, &tail));
    route.unwrap_or(Route::Unknown)
}

fn google(tail: &[&str]) -> Option<Route> {
    let (model, verb) = tail.last()?.rsplit_once(':')?;
    match verb {
        "generatecontent" | "streamgeneratecontent" => Some(Route::Policed(Api::Gemini)),
        // Of two verbs, servers may take either.
        "counttokens" | "embedcontent" | "batchembedcontents" if !model.contains(':') => Some(Route::Plain),
        _ => None,
    }
}

fn generative(tail: &[&str]) -> Option<Route> {
    let api = match tail {
        [.., "chat", "completions"] => Api::OpenAiChat,
        [.., "responses", "input_tokens"] => return None,
        // Whether that is a stored answer with an odd id or a route of the other API, nobody can tell.
        [.., "responses", "compact"]
        | [.., "chat", "completions", "responses" | "messages"]
        | [.., "responses", "messages" | "responses"] => {
            return Some(Route::Unknown);
        }
        [.., "responses"] => Api::OpenAiResponses,
        [.., "messages"] => Api::AnthropicMessages,
        // A stored answer, by its id.
        [.., "chat", "completions", _] => Api::OpenAiChat,
        [.., "responses", _] | [.., "responses", _, "cancel"] => Api::OpenAiResponses,
        _ => return None,
    };
    Some(Route::Policed(api))
}

fn plain(method: &Method, tail: &[&str]) -> Option<Route> {
    // Some servers answer a POST to a model with what the model says.
    let reads = [Method::GET, Method::HEAD, Method::DELETE].contains(method);
    let is_verb = tail.last().is_some_and(|last| last.contains(':'));
    match tail {
        [.., "models"] | [.., "models", _] | [.., "models", _, _] if reads && !is_verb => Some(Route::Plain),
        // What a file holds may be the results of a batch: `files/{id}/content` is not in this list.
        [.., "files"] | [.., "files", _] => Some(Route::Plain),
        [.., "embeddings" | "moderations"] => Some(Route::Plain),
        [.., "messages", "count_tokens"] | [.., "responses", "input_tokens"] => Some(Route::Plain),
        _ => None,
    }
}

fn lower(path: &[String]) -> Vec<String> {
    path.iter().map(|segment| segment.to_lowercase()).collect()
}

/// The routes that are policed, for people.
pub(crate) const POLICED: [(&str, Api); 8] = [
    ("…/chat/completions", Api::OpenAiChat),
    ("…/chat/completions/{id}", Api::OpenAiChat),
    ("…/responses", Api::OpenAiResponses),
    ("…/responses/{id}", Api::OpenAiResponses),
    ("…/responses/{id}/cancel", Api::OpenAiResponses),
    ("…/messages", Api::AnthropicMessages),
    ("…/{model}:generateContent", Api::Gemini),
    ("…/{model}:streamGenerateContent", Api::Gemini),
];

/// The routes that pass, for people.
pub(crate) const PLAIN: [&str; 10] = [
    "…/models (GET, HEAD, DELETE)",
    "…/models/{id} (GET, HEAD, DELETE)",
    "…/files",
    "…/files/{id}",
    "…/embeddings",
    "…/moderations",
    "…/messages/count_tokens",
    "…/responses/input_tokens",
    "…/{model}:countTokens",
    "…/{model}:embedContent, :batchEmbedContents",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn post(path: &str) -> Route {
        classify(&Method::POST, path, &OwnRoutes::default())
    }

    fn get(path: &str) -> Route {
        classify(&Method::GET, path, &OwnRoutes::default())
    }

    #[test]
    fn every_api_is_known_behind_any_prefix() {
        for (path, api) in [
            ("/v1/chat/completions", Api::OpenAiChat),
            ("/chat/completions", Api::OpenAiChat),
            ("/openai/deployments/x/chat/completions", Api::OpenAiChat),
            ("/openai/deployments/responses/chat/completions", Api::OpenAiChat),
            ("/models/chat/completions", Api::OpenAiChat),
            ("/v1/chat/completions/chatcmpl-1", Api::OpenAiChat),
            ("/v1/responses", Api::OpenAiResponses),
            ("/v1/responses/resp_1", Api::OpenAiResponses),
            ("/v1/responses/resp_1/cancel", Api::OpenAiResponses),
            ("/v1/messages", Api::AnthropicMessages),
            ("/v1beta/models/gemini:generateContent", Api::Gemini),
            ("/v1beta/models/gemini:streamGenerateContent", Api::Gemini),
            ("/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent", Api::Gemini),
            ("/v1beta/tunedModels/t:generateContent", Api::Gemini),
        ] {
            assert_eq!(post(path), Route::Policed(api), "{path}");
            assert_eq!(get(path), Route::Policed(api), "{path}");
        }
    }

    #[test]
    fn routes_without_model_output_are_known_too() {
        for path in ["/v1/models", "/v1/models/gpt", "/v1/models/org/name", "/v1/models/org%2Fname"] {
            assert_eq!(get(path), Route::Plain, "{path}");
            assert_eq!(post(path), Route::Unknown, "{path}");
        }
        for path in [
            "/v1/files",
            "/v1/files/f",
            "/v1/embeddings",
            "/openai/deployments/x/embeddings",
            "/v1/moderations",
            "/v1/messages/count_tokens",
            "/v1/responses/input_tokens",
            "/v1beta/models/g:countTokens",
            "/v1beta/models/g:embedContent",
            "/v1beta/models/g:batchEmbedContents",
        ] {
            assert_eq!(post(path), Route::Plain, "{path}");
        }
    }

    #[test]
    fn a_model_is_no_prefix_of_a_route_that_nobody_can_tell() {
        for path in [
            "/v1/models/responses/responses",
            "/v1/models/responses/messages",
            "/v1/models/responses/compact",
        ] {
            assert_eq!(get(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn what_carries_model_output_in_another_shape_is_not_known() {
        for path in [
            "/v1/completions",
            "/v1/engines/davinci/completions",
            "/v1/complete",
            "/v1/batches",
            "/v1/batches/b",
            "/v1/messages/batches",
            "/v1/messages/batches/b/results",
            "/v1/files/f/content",
            "/v1/responses/compact",
            "/v1/responses/r/input_items",
            "/v1/conversations/c/items",
            "/v1/threads/t/runs",
            "/v1/chat/completions/c/messages/x",
            "/v1beta/models/g:batchGenerateContent",
            "/v1beta/models/g:generateAnswer",
            "/v1beta/models/g:generateContent:countTokens",
            "/v1/realtime",
            "/api/chat",
            "/model/x/converse-stream",
            "/",
        ] {
            assert_eq!(post(path), Route::Unknown, "{path}");
            assert_eq!(get(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn readings_that_contradict_each_other_are_no_route() {
        for path in [
            "/v1/chat/completions/../../models",
            "/v1/completions/../models",
            "/v1/models/..%2fcompletions",
            "/v1/models/;/../../v1/embeddings",
            "/v1/responses/messages",
            "/v1/chat/completions/messages",
        ] {
            assert_eq!(get(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn model_output_wins_over_none() {
        assert_eq!(get("/v1/models/responses"), Route::Policed(Api::OpenAiResponses));
        assert_eq!(get("/v1/chat/completions/models"), Route::Policed(Api::OpenAiChat));
        assert_eq!(get("/v1/chat/completions;/models;x"), Route::Policed(Api::OpenAiChat));
        assert_eq!(get("/v1/files/../chat/completions"), Route::Policed(Api::OpenAiChat));
    }

    #[test]
    fn a_host_adds_routes_of_its_own() {
        let mut own = OwnRoutes::default();
        own.add("/healthz", Route::Plain);
        own.add("/docs/*", Route::Plain);
        own.add("/ask", Route::Policed(Api::OpenAiChat));
        let get = |path| classify(&Method::GET, path, &own);
        assert_eq!(get("/healthz"), Route::Plain);
        assert_eq!(get("/docs/a/b"), Route::Plain);
        assert_eq!(get("/docs/../v1/completions"), Route::Unknown);
        assert_eq!(get("/Ask/"), Route::Policed(Api::OpenAiChat));
        assert_eq!(get("/healthz/x"), Route::Unknown);
    }
}
