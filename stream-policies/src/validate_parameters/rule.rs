//! What holds for the calls of one tool.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use stream_core::{CallFlavor, Request, Tool, ToolCall};

use super::arguments::{Arguments, Given};
use super::failure::{Check, ParameterFailure};
use super::schema::{self, Schema};
use super::settings::{ToolSettings, UnknownTools, ValidateParametersSettings};
use crate::names;

/// The rules of all tools, compiled.
#[derive(Debug)]
pub(crate) struct ParameterRules {
    unknown: UnknownTools,
    offered: bool,
    aliases: BTreeMap<String, Vec<String>>,
    allow_empty: bool,
    tools: BTreeMap<String, (ToolSettings, Option<ParameterRule>)>,
    /// Schemas of offered tools by their text, over all streams.
    compiled: Mutex<HashMap<String, Arc<ParameterRule>>>,
}

/// What holds for the calls of one tool.
#[derive(Debug)]
pub(crate) struct ParameterRule {
    required: Vec<Required>,
    schema: Option<Result<Schema, String>>,
}

/// A parameter that must have a value.
#[derive(Debug)]
struct Required {
    name: String,
    /// The other names it may come under.
    aliases: Vec<String>,
    allow_empty: bool,
    allow_null: bool,
}

impl Required {
    /// Whether what stands under a name is a value.
    fn is_value(&self, given: Given) -> bool {
        match given {
            Given::Nothing => false,
            Given::Null => self.allow_null,
            Given::EmptyString => self.allow_empty,
            Given::Value => true,
        }
    }
}

impl ParameterRules {
    pub(crate) fn new(settings: &ValidateParametersSettings) -> Self {
        let tools = settings.tools.iter().map(|(name, tool)| {
            // Without a schema of its own, the rule is complete only with that of the offered tool.
            let rule = tool.schema.as_ref();
            let rule = rule.map(|schema| {
                ParameterRule::new(tool, Some(schema), &settings.aliases, settings.allow_empty)
            });
            (name.clone(), (tool.clone(), rule))
        });
        Self {
            unknown: settings.unknown_tools,
            offered: settings.offered,
            aliases: settings.aliases.clone(),
            allow_empty: settings.allow_empty,
            tools: tools.collect(),
            compiled: Mutex::default(),
        }
    }

    /// Checks a call: nothing to change, other arguments, or what does not hold.
    pub(crate) fn examine(
        &self,
        call: &ToolCall,
        request: &Request,
    ) -> Result<Option<String>, Box<ParameterFailure>> {
        if call.is_unopened() || call.name().trim().is_empty() {
            return Err(unknown(call, Check::Tool, "a call with the name of a tool", "none"));
        }
        let Some(name) = self.tool(call.name(), request) else { return self.examine_unknown(call) };
        let offered = request.tools().iter().find(|tool| self.offered && tool.name() == name);
        let examined = match (self.tools.get(name), offered) {
            (Some((_, Some(rule))), _) => rule.examine(call),
            (listed, offered) => {
                let settings = listed.map(|(settings, _)| settings);
                self.offered_rule(settings, name, offered.and_then(|tool| tool.parameters())).examine(call)
            }
        };
        examined.map_err(|mut failure| {
            name.clone_into(&mut failure.tool);
            failure
        })
    }

    /// The tool that is listed or was offered under this name. One in other letters is taken for it, as clients do:
    /// else nothing would be checked of its calls.
    pub(crate) fn tool<'a>(&'a self, name: &str, request: &'a Request) -> Option<&'a str> {
        let listed = self.tools.keys().map(String::as_str);
        let offered = request.tools().iter().filter(|_| self.offered).map(Tool::name);
        let known = || listed.clone().chain(offered.clone());
        known().find(|known| *known == name).or_else(|| {
            let folded = names::fold(name);
            known().find(|known| names::fold(known) == folded)
        })
    }

    fn examine_unknown(&self, call: &ToolCall) -> Result<Option<String>, Box<ParameterFailure>> {
        if self.unknown == UnknownTools::Refuse {
            return Err(unknown(call, Check::Tool, "a tool that is listed or was offered", "another"));
        }
        if call.flavor() == CallFlavor::Custom {
            return Ok(None);
        }
        match Arguments::parse(call.arguments()) {
            Ok(_) => Ok(None),
            Err(malformed) => Err(unknown(call, Check::Parse, OBJECT, malformed.to_string())),
        }
    }

    fn offered_rule(
        &self,
        settings: Option<&ToolSettings>,
        name: &str,
        text: Option<&str>,
    ) -> Arc<ParameterRule> {
        // The same schema may be offered under the names of several tools.
        let key = format!("{name}\n{}", text.unwrap_or_default());
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rule) = compiled.get(&key) {
            return Arc::clone(rule);
        }
        let none = ToolSettings::default();
        let settings = settings.unwrap_or(&none);
        let schema = text.map(serde_json::from_str::<Value>);
        let rule = match schema {
            Some(Err(_)) => {
                ParameterRule { required: Vec::new(), schema: Some(Err("text that is no JSON".to_owned())) }
            }
            Some(Ok(schema)) => ParameterRule::new(settings, Some(&schema), &self.aliases, self.allow_empty),
            None => ParameterRule::new(settings, None, &self.aliases, self.allow_empty),
        };
        let rule = Arc::new(rule);
        if compiled.len() >= COMPILED {
            compiled.clear();
        }
        compiled.insert(key, Arc::clone(&rule));
        rule
    }
}

impl ParameterRule {
    fn new(
        tool: &ToolSettings,
        schema: Option<&Value>,
        aliases: &BTreeMap<String, Vec<String>>,
        allow_empty: bool,
    ) -> Self {
        let mut names = tool.required.clone();
        names.extend(schema.map(schema::required).unwrap_or_default());
        let allow_empty = tool.allow_empty.unwrap_or(allow_empty);
        let mut required: Vec<Required> = Vec::new();
        for name in &names {
            if required.iter().any(|known| known.name == *name) {
                continue;
            }
            let listed = tool.aliases.get(name).or_else(|| aliases.get(name));
            // What the tool itself calls so is no other's alias.
            let own = |alias: &&String| {
                names.contains(alias) || schema.is_some_and(|schema| schema::names(schema, alias))
            };
            let others = listed.into_iter().flatten().filter(|alias| !own(alias));
            required.push(Required {
                name: name.clone(),
                aliases: others.cloned().collect(),
                allow_empty,
                allow_null: schema.is_some_and(|schema| schema::allows_null(schema, name)),
            });
        }
        Self { required, schema: schema.map(schema::compile) }
    }

    fn examine(&self, call: &ToolCall) -> Result<Option<String>, Box<ParameterFailure>> {
        if call.flavor() == CallFlavor::Custom {
            return match (self.required.is_empty(), &self.schema) {
                (true, None) => Ok(None),
                _ => Err(failure(call, Check::Parse, OBJECT, "free text")),
            };
        }
        let arguments = Arguments::parse(call.arguments())
            .map_err(|malformed| failure(call, Check::Parse, OBJECT, malformed.to_string()))?;
        let mut renames = Vec::new();
        for required in &self.required {
            let given = arguments.given(&required.name);
            if !required.is_value(given) {
                renames.push((find(required, given, &arguments, call)?, required.name.as_str()));
            }
        }
        let renamed = (!renames.is_empty()).then(|| arguments.renamed(&renames));
        self.examine_schema(renamed.as_deref().unwrap_or(arguments.raw()), call)?;
        Ok(renamed)
    }

    fn examine_schema(&self, arguments: &str, call: &ToolCall) -> Result<(), Box<ParameterFailure>> {
        let violation = match &self.schema {
            None => return Ok(()),
            Some(Err(what)) => {
                return Err(failure(call, Check::Schema, "a JSON Schema of the tool", what.as_str()));
            }
            Some(Ok(schema)) => schema.check(arguments),
        };
        violation.map_err(|violation| {
            let what = match &violation.parameter {
                Some(parameter) => format!("parameter {parameter} to hold to {}", violation.keyword),
                None => format!("arguments that hold to {}", violation.keyword),
            };
            let mut failure = failure(call, Check::Schema, what, "others");
            failure.parameter = violation.parameter;
            failure.keyword = Some(violation.place);
            failure
        })
    }
}

/// The one alias under which a required parameter has a value.
fn find<'a>(
    required: &'a Required,
    given: Given,
    arguments: &Arguments<'_>,
    call: &ToolCall,
) -> Result<&'a str, Box<ParameterFailure>> {
    let Required { name, aliases, .. } = required;
    let mut there = aliases.iter().filter(|alias| required.is_value(arguments.given(alias)));
    let found = match (there.next(), there.next()) {
        (Some(alias), None) => return Ok(alias),
        (Some(_), Some(_)) => "several of them",
        _ if given == Given::Null => "null",
        _ if given == Given::EmptyString => "an empty string",
        _ if aliases.is_empty() => "none",
        _ => "none of them",
    };
    let expected = match &aliases[..] {
        [] => format!("parameter {name}"),
        aliases => format!("parameter {name} or one of {}", aliases.join(", ")),
    };
    let mut failure = failure(call, Check::Required, expected, found);
    failure.parameter = Some(name.clone());
    Err(failure)
}

fn failure(
    call: &ToolCall,
    check: Check,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Box<ParameterFailure> {
    Box::new(ParameterFailure {
        tool: call.name().to_owned(),
        call_id: call.id().map(str::to_owned),
        check,
        parameter: None,
        keyword: None,
        expected: expected.into(),
        found: found.into(),
        attempt: None,
        budget: None,
    })
}

/// The failure of a call of a tool that nobody listed. Its name is the model's word and nobody else's: it is not
/// repeated.
fn unknown(call: &ToolCall, check: Check, expected: &str, found: impl Into<String>) -> Box<ParameterFailure> {
    let mut failure = failure(call, check, expected, found);
    "an unknown tool".clone_into(&mut failure.tool);
    failure
}

const OBJECT: &str = "arguments that are one JSON object";

/// How many schemas of offered tools are kept compiled.
const COMPILED: usize = 256;
