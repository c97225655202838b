// The `@anthropic-ai/sdk` package: Messages, iterated and through its stream helper.
import Anthropic from "@anthropic-ai/sdk";
import { Client, MODEL, QUESTION, RESULT, TOOLS, run } from "./kit.mjs";

class Messages extends Client {
  static title = "anthropic-node";
  static api = "anthropic-messages";
  tools = Object.entries(TOOLS).map(([name, input_schema]) => ({ name, input_schema }));

  constructor(scenario, whole) {
    super(scenario, whole);
    this.client = new Anthropic({
      baseURL: this.base,
      apiKey: "none",
      ...(this.retries ? {} : { maxRetries: 0 }),
      defaultHeaders: this.headers,
    });
  }

  first() {
    return [{ role: "user", content: QUESTION }];
  }

  asked(messages) {
    return { model: MODEL, max_tokens: 1024, messages, tools: this.tools };
  }

  async stream(messages, seen) {
    const events = await this.client.messages.create({ ...this.asked(messages), stream: true });
    const content = [];
    const inputs = [];
    let stop_reason = null;
    let stop_details = null;
    for await (const event of events) {
      seen.add(event);
      const block = content[event.index];
      if (event.type === "content_block_start") content[event.index] = { ...event.content_block };
      if (event.type === "message_delta") ({ stop_reason, stop_details } = event.delta);
      if (event.type !== "content_block_delta") continue;
      const { delta } = event;
      if (delta.type === "text_delta") {
        block.text += delta.text;
        seen.say(delta.text);
      }
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "signature_delta") block.signature = delta.signature;
      if (delta.type === "input_json_delta") inputs[event.index] = (inputs[event.index] ?? "") + delta.partial_json;
    }
    inputs.forEach((text, index) => (content[index].input = JSON.parse(text || "{}")));
    return this.answer({ content, stop_reason, stop_details });
  }

  async whole(messages, seen) {
    return this.answer(seen.add(await this.client.messages.create(this.asked(messages))));
  }

  answer({ content, stop_reason, stop_details }) {
    const of = (type) => content.filter((block) => block.type === type);
    return {
      text: of("text")
        .map((block) => block.text)
        .join(""),
      calls: of("tool_use").map(({ name, id, input }) => ({ name, id, arguments: JSON.stringify(input) })),
      finish: stop_reason,
      why: stop_details?.explanation,
      turn: content,
    };
  }

  second(messages, answer) {
    const results = answer.calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: RESULT }));
    const turn = { role: "assistant", content: answer.turn };
    return [...messages, turn, { role: "user", content: results.length > 0 ? results : QUESTION }];
  }
}

class MessagesStream extends Messages {
  static title = "anthropic-node .stream()";
  static hasWhole = false;

  async stream(messages, seen) {
    const events = this.client.messages.stream(this.asked(messages));
    for await (const event of events) {
      seen.add(event);
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") seen.say(event.delta.text);
    }
    return this.answer(seen.add(await events.finalMessage()));
  }
}

await run(Messages, MessagesStream);
