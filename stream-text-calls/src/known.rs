//! The dialects that models are known to write, and which model writes which.

use crate::dialect::Dialect;
use crate::set::DialectSet;

/// Anthropic's XML, prompted or leaked: `<invoke name="…"><parameter name="…">…`, with or without the
/// `<function_calls>` around it and a namespace before each tag.
pub fn anthropic() -> Dialect {
    Dialect::xml("anthropic")
        .wrapper("<{antml:?}function_calls>", "</{antml:?}function_calls>")
        .wrapper_optional()
        .call("<{antml:?}invoke name={name}>", "</{antml:?}invoke>")
        .parameter("<{antml:?}parameter name={key}>", "</{antml:?}parameter>")
}

/// `<|tool_call|>{"name", "arguments"}</|tool_call|>`: Qwen, when prompted so.
pub fn qwen_prompted() -> Dialect {
    Dialect::json("qwen-prompted")
        .call("<|tool_call|>", "</|tool_call|>{or}</|tool_call|}{or}<|/tool_call|>")
        .also_call("<|tool_call|>{~}<|tool_call|>")
        .maybe_array()
}

/// `<function_call>{"name", "arguments"}</function_call>`: Llama 3, when prompted so, and Granite 20B.
pub fn llama_function_call() -> Dialect {
    Dialect::json("llama-function-call").call("<function_call>", "</function_call>").maybe_array()
}

/// `<tool_call>{"name", "arguments"}</tool_call>`: Hermes, Qwen 2.5 and 3, Granite 4, ERNIE.
pub fn hermes() -> Dialect {
    // To llama.cpp an object with a name is a call in any tag, in a fence or in none, and so are arguments in Functionary's tags.
    let functionary = Dialect::json_arguments("hermes")
        .call("<function={name}{~}>", "</function>")
        .also_call("<function={*}>")
        .also_call("<function name={name}{~}>");
    Dialect::json("hermes")
        .call("<tool_call>", "</tool_call>")
        .maybe_array()
        .beside(Dialect::json("hermes").only_whole())
        .beside(functionary)
}

/// `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`: Qwen3-Coder, Nemotron 3, MiMo,
/// Step 3.5. The outer tag is often missing.
pub fn qwen3_coder() -> Dialect {
    Dialect::tagged("qwen3-coder")
        .wrapper("<tool_call>", "</tool_call>")
        .wrapper_optional()
        .call("<function={name}{~}>", "</function>")
        // vLLM takes the name up to the closing tag, too; what is no single word names nothing that could be judged.
        .also_call("<function={name}{~}</function>")
        .also_call("<function={*}>")
        .parameter("<parameter={key}{~}>", "</parameter>")
        .framed_values()
}

/// `<seed:tool_call>` around the same as [`qwen3_coder`]. To vLLM it may be missing here as well.
pub fn seed_oss() -> Dialect {
    Dialect::tagged("seed-oss")
        .wrapper("<seed:tool_call>", "</seed:tool_call>")
        .wrapper_optional()
        .call("<function={name}{~}>", "</function>")
        .also_call("<function={name}{~}</function>")
        .also_call("<function={*}>")
        .parameter("<parameter={key}{~}>", "</parameter>")
        .framed_values()
}

/// `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`: GLM 4.5 and later.
pub fn glm() -> Dialect {
    Dialect::tagged("glm")
        // To SGLang a new line may be written as an escape.
        .call("<tool_call>{~}{name}{\\n?}", "</tool_call>")
        .parameter("<arg_key>{~}{key}{~}</arg_key>{~}{\\n?}{~}<arg_value>", "</arg_value>")
}

/// `[TOOL_CALLS][{"name", "arguments"}]`: Mistral before version 11.
pub fn mistral() -> Dialect {
    Dialect::json("mistral").wrapper(MISTRAL, "[/TOOL_CALLS]").array().marks_all()
}

/// `[TOOL_CALLS]NAME{…}`, `[TOOL_CALLS]NAME[ARGS]{…}`: Mistral from version 11 on, Devstral, Magistral.
pub fn mistral_v11() -> Dialect {
    Dialect::json_arguments("mistral-v11")
        .call("[TOOL_CALLS]{~}{name}{~}{[ARGS]?}", "")
        .also_call("[TOOL_CALLS]{~}{name}[CALL_ID]{id}[ARGS]")
        .also_call("[TOOL_CALLS]{~}{name}{~}[CALL_ID]{*}[ARGS")
        // SGLang misses neither bracket.
        .also_call("[TOOL_CALLS{]?}{~}{name}{~}[ARGS{]?}")
        .marks_all()
}

/// `<|python_tag|>{"name", "parameters"}`, several separated by semicolons: Llama 3.
pub fn llama_python_tag() -> Dialect {
    Dialect::json("llama-python-tag").wrapper("<|python_tag|>", "<|eom_id|>").separator(";").maybe_array()
}

/// `{"name", "parameters"}` and no marker at all: Llama 3. Counts only when it begins a line, is whole, and its tool was
/// offered.
pub fn bare_json() -> Dialect {
    Dialect::json("bare-json").only_whole()
}

/// A fenced JSON object or list of them. Counts only when whole, and when its tool was offered.
pub fn fenced_json() -> Dialect {
    Dialect::json("fenced-json").wrapper("```json\n", "```").maybe_array().only_whole()
}

/// DeepSeek V3 and R1: the name behind a separator, the arguments in a fence.
pub fn deepseek_v3() -> Dialect {
    Dialect::json_arguments("deepseek-v3")
        .wrapper("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
        .wrapper_optional()
        .call("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}{~}```json", "```{~}<｜tool▁call▁end｜>")
        // vLLM takes any type.
        .also_call("<｜tool▁call▁begin｜>{*}<｜tool▁sep｜>{~}{name}{~}```json")
        // To llama.cpp the begin may be missing.
        .also_call("function<｜tool▁sep｜>{name}{~}```json")
}

/// DeepSeek V3.1: the name before the separator, no fence.
pub fn deepseek_v3_1() -> Dialect {
    Dialect::json_arguments("deepseek-v3.1")
        .wrapper("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
        .wrapper_optional()
        .call("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>", "<｜tool▁call▁end｜>")
        .also_call("<｜tool▁call▁begin｜>{~}{name}{~}<｜tool▁sep｜>")
        // To llama.cpp the begin may be missing: the name has left when the separator shows that it is one.
        .also_call("<｜tool▁sep｜>")
}

/// DSML: DeepSeek V3.2 and V4.
pub fn dsml() -> Dialect {
    Dialect::tagged("dsml")
        .wrapper("<｜DSML｜{function_?}{tool_?}calls>", "</｜DSML｜{function_?}{tool_?}calls>")
        .wrapper_optional()
        .call("<｜DSML｜invoke name={name}{~}>", "</｜DSML｜invoke>")
        .parameter("<｜DSML｜parameter name={key} string={string}{~}>", "</｜DSML｜parameter>")
}

/// Kimi K2: the id holds the name.
pub fn kimi_k2() -> Dialect {
    Dialect::json_arguments("kimi-k2")
        .wrapper("<|tool_call{s?}_section_begin|>", "<|tool_calls_section_end|>{or}<|tool_call_section_end|>")
        .wrapper_optional()
        .call("<|tool_call_begin|>{id:name}<|tool_call_argument_begin|>", "<|tool_call_end|>")
}

/// MiniMax M2. Behind the outer tag vLLM passes over whatever stands before a call.
pub fn minimax_m2() -> Dialect {
    Dialect::xml("minimax-m2")
        .wrapper("<minimax:tool_call>", "</minimax:tool_call>")
        .wrapper_optional()
        .call("<invoke name={name}>", "</invoke>")
        .parameter("<parameter name={key}>", "</parameter>")
        .framed_values()
}

/// Harmony: gpt-oss. A call is a message to `functions.NAME`, or, to vLLM and SGLang, to `NAME`.
pub fn harmony() -> Dialect {
    Dialect::json_arguments("harmony")
        .call(
            "{<|start|>assistant?}<|channel|>{~}commentary to=functions.{name}{*}<|message|>",
            "<|call|>{or}<|end|>",
        )
        .also_call("{<|start|>assistant?}<|channel|>{~}analysis to=functions.{name}{*}<|message|>")
        .also_call("{<|start|>assistant?}<|channel|>{~}final to=functions.{name}{*}<|message|>")
        .also_call("<|start|>assistant to=functions.{name}{*}<|message|>")
        .also_call("{<|start|>assistant?}<|channel|>{~}commentary to={name}{*}<|message|>")
        .also_call("{<|start|>assistant?}<|channel|>{~}analysis to={name}{*}<|message|>")
        .also_call("{<|start|>assistant?}<|channel|>{~}final to={name}{*}<|message|>")
        .also_call("<|start|>assistant to={name}{*}<|message|>")
        .also_call(
            "{<|start|>assistant?}<|channel|>{~}commentary{~}<|constrain|>json to={functions.?}{name}{*}<|message|>",
        )
        // Any channel, and any role.
        .also_call("<|channel|>{*}to={functions.?}{name}{*}<|message|>")
        .also_call("<|start|>{*}to={functions.?}{name}{*}<|message|>")
        // To SGLang whatever stands before this: the name has left when it shows that there is one.
        .beside(Dialect::json_arguments("harmony").call("<|constrain|>{~}json{~}<|message|>", ""))
}

/// A fence named `tool_code` with a Python call in it: Gemma 1 to 3.
pub fn gemma_tool_code() -> Dialect {
    Dialect::python("gemma-tool-code")
        .wrapper("```tool_code\n", "```")
        .call("{print(?}{~}{default_api.?}{name}{~}(", ")")
        // To Python white space around the dot is none.
        .also_call("{print(?}{~}default_api{~}.{~}{name}{~}(")
}

/// A fence named `tool_code` with a JSON call in it.
pub fn gemma_tool_code_json() -> Dialect {
    Dialect::json("gemma-tool-code-json").wrapper("```tool_code\n", "```").maybe_array()
}

/// `<|tool_call>call:NAME{key:<|"|>text<|"|>}<tool_call|>`: Gemma 4.
pub fn gemma4() -> Dialect {
    Dialect::loose("gemma4", "<|\"|>").call("<|tool_call>call:{name}", "<tool_call|>")
}

/// `<start_function_call>call:NAME{key:<escape>text<escape>}<end_function_call>`: FunctionGemma.
pub fn function_gemma() -> Dialect {
    Dialect::loose("function-gemma", "<escape>")
        .call("<start_function_call>call:{name}", "<end_function_call>")
}

/// `<|tool_call_start|>[f(a="x")]<|tool_call_end|>`: LFM2.
pub fn lfm2() -> Dialect {
    Dialect::python("lfm2").wrapper("<|tool_call_start|>", "<|tool_call_end|>").call("{name}{~}(", "").array()
}

/// `<|tool_call_start|>[{"name", "arguments"}]<|tool_call_end|>`: LFM2 as well, to SGLang.
pub fn lfm2_json() -> Dialect {
    Dialect::json("lfm2-json").wrapper("<|tool_call_start|>", "<|tool_call_end|>").maybe_array()
}

/// `<|tool_call_start|>f(a="x")<|tool_call_end|>`: LFM2 without its brackets, to SGLang.
pub fn lfm2_single() -> Dialect {
    Dialect::python("lfm2-single").wrapper("<|tool_call_start|>", "<|tool_call_end|>").call("{name}{~}(", "")
}

/// `<|python_start|>[f(a=1)]<|python_end|>`: Llama 4.
pub fn llama4_pythonic() -> Dialect {
    Dialect::python("llama4-pythonic")
        // vLLM takes the closing tag out, wherever it stands.
        .wrapper("<|python_start|>{~}{<|python_end|>?}", "<|python_end|>")
        .call("{<|python_end|>?}{name}{~}{<|python_end|>?}{~}(", "")
        .array()
}

/// `[f(a=1), g()]` and no marker at all: Llama 3.2, ToolACE. Counts only when it begins a line, its first call is whole,
/// and its tool was offered.
pub fn pythonic() -> Dialect {
    Dialect::python("pythonic").call("{name}{~}(", "").array().only_whole()
}

/// `<function_calls>` around Python calls, one per line: OLMo 3.
pub fn olmo3() -> Dialect {
    Dialect::python("olmo3").wrapper("<function_calls>", "</function_calls>").call("{name}{~}(", "")
}

/// `<TOOLCALL>[{"name", "arguments"}]</TOOLCALL>`: Nemotron.
pub fn nemotron() -> Dialect {
    Dialect::json("nemotron").wrapper("<TOOLCALL>", "</TOOLCALL>").array()
}

/// `<|tool_call|>[{"name", "arguments"}]`: Granite 3.0.
pub fn granite() -> Dialect {
    Dialect::json("granite").wrapper("<|tool_call|>", "").array()
}

/// `<tool_call>[{"name", "arguments"}]`: Granite 3.1 and later, whose list may have a closer.
pub fn granite_3_1() -> Dialect {
    Dialect::json("granite-3.1").wrapper("<tool_call>", "</tool_call>").array()
}

/// `functools[{"name", "arguments"}]`: Phi-4, FireFunction v2.
pub fn phi4() -> Dialect {
    Dialect::json("phi4").wrapper("functools", "").array()
}

/// `<tool_calls>[{"name", "arguments"}]</tool_calls>`, or one object per line: Jamba, Hunyuan, Apriel, MiniMax M1.
pub fn jamba() -> Dialect {
    Dialect::json("jamba").wrapper("<tool_calls>", "</tool_calls>").maybe_array()
}

/// `<|START_ACTION|>[{"tool_name", "parameters"}]<|END_ACTION|>`: Cohere Command.
pub fn cohere() -> Dialect {
    Dialect::json("cohere")
        .wrapper("<|START_ACTION|>", "<|END_ACTION|>")
        .fields("tool_name", "parameters")
        .maybe_array()
}

/// `<|action_start|><|plugin|>{"name", "parameters"}<|action_end|>`: InternLM.
pub fn internlm() -> Dialect {
    Dialect::json("internlm").call("<|action_start|>{~}<|plugin|>", "<|action_end|>").maybe_array()
}

/// `<|tools_prefix|>[{"NAME": {…}}]<|tools_suffix|>`: Apertus.
pub fn apertus() -> Dialect {
    Dialect::json("apertus").wrapper("<|tools_prefix|>", "<|tools_suffix|>").array().name_is_key()
}

/// The marker that vLLM of 2025 took out before it looked for calls.
pub(crate) const MISTRAL: &str = "[TOOL_CALLS]";

/// Every dialect of this page.
#[must_use]
pub fn all() -> Vec<Dialect> {
    ALL.iter().map(|dialect| dialect()).collect()
}

/// The dialect of this name, [`Dialect::name`].
#[must_use]
pub fn named(name: &str) -> Option<Dialect> {
    all().into_iter().find(|dialect| dialect.name() == name)
}

const ALL: &[fn() -> Dialect] = &[
    anthropic,
    qwen_prompted,
    llama_function_call,
    hermes,
    qwen3_coder,
    seed_oss,
    glm,
    mistral,
    mistral_v11,
    llama_python_tag,
    bare_json,
    fenced_json,
    deepseek_v3,
    deepseek_v3_1,
    dsml,
    kimi_k2,
    minimax_m2,
    harmony,
    gemma_tool_code,
    gemma_tool_code_json,
    gemma4,
    function_gemma,
    lfm2,
    lfm2_json,
    lfm2_single,
    llama4_pythonic,
    pythonic,
    olmo3,
    nemotron,
    granite,
    granite_3_1,
    phi4,
    jamba,
    cohere,
    internlm,
    apertus,
];

/// What a family of models writes.
struct Family {
    /// A model is of this family if its name holds one of these, in lower case.
    names: &'static [&'static str],
    dialects: &'static [fn() -> Dialect],
    reasoning: &'static [(&'static str, &'static str)],
}

const THINK: &[(&str, &str)] = &[("<think>", "</think>")];

/// The first that fits counts: a more exact name stands before a shorter one.
const FAMILIES: &[Family] = &[
    Family { names: &["claude"], dialects: &[anthropic], reasoning: &[("<thinking>", "</thinking>")] },
    Family {
        names: &["qwen3-coder", "qwen3.5", "qwen3-next-coder", "mimo", "step-3.5", "nemotron-3"],
        dialects: &[qwen3_coder, hermes],
        reasoning: THINK,
    },
    Family { names: &["seed-oss"], dialects: &[seed_oss], reasoning: &[("<seed:think>", "</seed:think>")] },
    Family {
        names: &["qwen", "qwq", "hermes", "smollm"],
        dialects: &[hermes, qwen_prompted],
        reasoning: THINK,
    },
    Family { names: &["nemotron"], dialects: &[nemotron, hermes], reasoning: THINK },
    Family { names: &["glm"], dialects: &[glm], reasoning: THINK },
    Family {
        names: &["mistral", "mixtral", "devstral", "magistral", "ministral", "codestral"],
        dialects: &[mistral, mistral_v11],
        reasoning: &[("[THINK]", "[/THINK]")],
    },
    Family {
        names: &["llama-4", "llama4"],
        dialects: &[llama4_pythonic, llama_python_tag, bare_json],
        reasoning: &[],
    },
    Family {
        names: &["llama"],
        dialects: &[llama_python_tag, llama_function_call, bare_json],
        reasoning: &[],
    },
    Family { names: &["deepseek-v3.2", "deepseek-v4"], dialects: &[dsml], reasoning: THINK },
    Family { names: &["deepseek"], dialects: &[deepseek_v3, deepseek_v3_1], reasoning: THINK },
    Family { names: &["kimi"], dialects: &[kimi_k2], reasoning: THINK },
    Family { names: &["minimax-m1"], dialects: &[jamba], reasoning: THINK },
    Family { names: &["minimax"], dialects: &[minimax_m2], reasoning: THINK },
    Family {
        names: &["gpt-oss"],
        dialects: &[harmony],
        reasoning: &[("<|channel|>analysis<|message|>", "<|end|>")],
    },
    Family { names: &["functiongemma", "function-gemma"], dialects: &[function_gemma], reasoning: &[] },
    Family {
        names: &["gemma-4", "gemma4"],
        dialects: &[gemma4],
        reasoning: &[("<|channel>thought", "<channel|>")],
    },
    Family { names: &["gemma"], dialects: &[gemma_tool_code, gemma_tool_code_json], reasoning: &[] },
    Family { names: &["lfm2"], dialects: &[lfm2, lfm2_json, lfm2_single], reasoning: THINK },
    Family { names: &["toolace"], dialects: &[pythonic], reasoning: &[] },
    Family { names: &["olmo"], dialects: &[olmo3], reasoning: THINK },
    Family { names: &["granite-20b"], dialects: &[llama_function_call], reasoning: &[] },
    Family { names: &["granite"], dialects: &[granite, granite_3_1, hermes], reasoning: THINK },
    Family { names: &["phi-4", "phi4", "firefunction"], dialects: &[phi4], reasoning: THINK },
    Family { names: &["jamba", "hunyuan", "apriel"], dialects: &[jamba], reasoning: THINK },
    Family {
        names: &["command"],
        dialects: &[cohere],
        reasoning: &[("<|START_THINKING|>", "<|END_THINKING|>")],
    },
    Family { names: &["intern"], dialects: &[internlm], reasoning: THINK },
    Family {
        names: &["apertus"],
        dialects: &[apertus],
        reasoning: &[("<|inner_prefix|>", "<|inner_suffix|>")],
    },
    Family { names: &["ernie"], dialects: &[hermes], reasoning: THINK },
];

pub(crate) fn for_model(model: &str) -> DialectSet {
    let model = model.to_ascii_lowercase();
    let family = FAMILIES.iter().find(|family| family.names.iter().any(|name| model.contains(name)));
    let mut set = DialectSet::new();
    let Some(family) = family else { return set };
    for dialect in family.dialects {
        set = set.with(dialect());
    }
    for (open, close) in family.reasoning {
        set = set.reasoning(open, close);
    }
    set
}
