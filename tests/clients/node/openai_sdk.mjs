// The `openai` package: Chat Completions and Responses, iterated and through its stream helpers.
import OpenAI from "openai";
import { Client, MODEL, QUESTION, RESULT, TOOLS, run } from "./kit.mjs";

class OpenAi extends Client {
  constructor(scenario, whole) {
    super(scenario, whole);
    this.client = new OpenAI({
      baseURL: `${this.base}/v1`,
      apiKey: "none",
      ...(this.retries ? {} : { maxRetries: 0 }),
      defaultHeaders: this.headers,
    });
  }

  first() {
    return [{ role: "user", content: QUESTION }];
  }
}

class Chat extends OpenAi {
  static title = "openai-node";
  static api = "openai-chat";
  tools = Object.entries(TOOLS).map(([name, parameters]) => ({ type: "function", function: { name, parameters } }));

  async stream(messages, seen) {
    const chunks = await this.client.chat.completions.create({
      model: MODEL,
      messages,
      tools: this.tools,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let why = "";
    let finish = null;
    const calls = [];
    for await (const chunk of chunks) {
      seen.add(chunk);
      for (const { delta, finish_reason } of chunk.choices) {
        text += delta.content ?? "";
        why += delta.refusal ?? "";
        for (const part of delta.tool_calls ?? []) {
          const call = (calls[part.index] ??= { name: "", arguments: "", id: "" });
          call.id += part.id ?? "";
          call.name += part.function?.name ?? "";
          call.arguments += part.function?.arguments ?? "";
        }
        finish = finish_reason ?? finish;
        seen.say(delta.content);
      }
    }
    const turn = { role: "assistant", content: text || null };
    if (calls.length > 0) {
      turn.tool_calls = calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      }));
    }
    return { text, calls, finish, why, turn };
  }

  async whole(messages, seen) {
    const asked = { model: MODEL, messages, tools: this.tools };
    return this.answer(seen.add(await this.client.chat.completions.create(asked)));
  }

  answer({ choices: [{ message, finish_reason }] }) {
    const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }));
    return { text: message.content ?? "", calls, finish: finish_reason, why: message.refusal, turn: message };
  }

  second(messages, answer) {
    const results = answer.calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: RESULT }));
    return [...messages, answer.turn, ...(results.length > 0 ? results : this.first())];
  }
}

class ChatStream extends Chat {
  static title = "openai-node .stream()";
  static hasWhole = false;

  async stream(messages, seen) {
    const events = this.client.chat.completions.stream({ model: MODEL, messages, tools: this.tools });
    for await (const chunk of events) {
      seen.add(chunk);
      seen.say(chunk.choices[0]?.delta.content);
    }
    return this.answer(seen.add(await events.finalChatCompletion()));
  }
}

class Responses extends OpenAi {
  static title = "openai-node";
  static api = "openai-responses";
  tools = Object.entries(TOOLS).map(([name, parameters]) => ({ type: "function", name, parameters, strict: false }));

  asked(input) {
    return { model: MODEL, input, tools: this.tools, store: false };
  }

  async stream(messages, seen) {
    const events = await this.client.responses.create({ ...this.asked(messages), stream: true });
    let response;
    for await (const event of events) {
      seen.add(event);
      if (event.type === "response.output_text.delta") seen.say(event.delta);
      if (event.type === "error") throw new OpenAI.APIError(undefined, event, event.message, undefined);
      if (["response.completed", "response.incomplete", "response.failed"].includes(event.type)) {
        response = event.response;
      }
    }
    // A stream without an ending has no response.
    return response ? this.answer(response) : { text: seen.text, calls: [], finish: null };
  }

  async whole(messages, seen) {
    return this.answer(seen.add(await this.client.responses.create(this.asked(messages))));
  }

  answer(response) {
    const { output, status, incomplete_details: details } = response;
    const parts = output.filter((item) => item.type === "message").flatMap((item) => item.content);
    const joined = (type, key) =>
      parts
        .filter((part) => part.type === type)
        .map((part) => part[key])
        .join("");
    const calls = output
      .filter((item) => item.type === "function_call")
      .map((item) => ({ name: item.name, arguments: item.arguments, id: item.call_id }));
    const finish = details ? `${status}: ${details.reason}` : status;
    return { text: joined("output_text", "text"), calls, finish, why: joined("refusal", "refusal"), turn: output };
  }

  second(messages, answer) {
    const results = answer.calls.map(({ id }) => ({ type: "function_call_output", call_id: id, output: RESULT }));
    return [...messages, ...answer.turn, ...(results.length > 0 ? results : this.first())];
  }
}

class ResponsesStream extends Responses {
  static title = "openai-node .stream()";
  static hasWhole = false;

  async stream(messages, seen) {
    const events = this.client.responses.stream(this.asked(messages));
    for await (const event of events) {
      seen.add(event);
      if (event.type === "response.output_text.delta") seen.say(event.delta);
    }
    return this.answer(seen.add(await events.finalResponse()));
  }
}

await run(Chat, ChatStream, Responses, ResponsesStream);
