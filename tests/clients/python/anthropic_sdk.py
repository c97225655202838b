"""The `anthropic` package: Messages, iterated and through its stream helper."""

import json

import anthropic
from kit import MODEL, QUESTION, RESULT, TOOLS, Answer, Call, Client, run


class Messages(Client):
    name = "anthropic-python"
    api = "anthropic-messages"
    tools = [{"name": n, "input_schema": s} for n, s in TOOLS.items()]

    def __init__(self, scenario, whole):
        super().__init__(scenario, whole)
        self.client = anthropic.Anthropic(
            base_url=self.base,
            api_key="none",
            timeout=self.timeout,
            default_headers=self.headers,
            **({} if self.retries else {"max_retries": 0}),
        )

    def first(self):
        return [{"role": "user", "content": QUESTION}]

    def asked(self, messages):
        return {"model": MODEL, "max_tokens": 1024, "messages": messages, "tools": self.tools}

    def stream(self, messages, seen):
        blocks, inputs, finish, why = {}, {}, None, None
        with self.client.messages.create(**self.asked(messages), stream=True) as events:
            for event in events:
                seen.add(event)
                if event.type == "content_block_start":
                    blocks[event.index] = event.content_block.model_dump(exclude_none=True)
                elif event.type == "content_block_delta":
                    block, delta = blocks[event.index], event.delta
                    if delta.type == "text_delta":
                        block["text"] += delta.text
                        seen.say(delta.text)
                    elif delta.type == "thinking_delta":
                        block["thinking"] += delta.thinking
                    elif delta.type == "signature_delta":
                        block["signature"] = delta.signature
                    elif delta.type == "input_json_delta":
                        inputs[event.index] = inputs.get(event.index, "") + delta.partial_json
                elif event.type == "message_delta":
                    finish = event.delta.stop_reason
                    details = event.delta.stop_details
                    why = details.explanation if details else None
        for index, text in inputs.items():
            blocks[index]["input"] = json.loads(text or "{}")
        return self.answered(list(blocks.values()), finish, why, list(blocks.values()))

    def whole(self, messages, seen):
        return self.answer(seen.add(self.client.messages.create(**self.asked(messages))))

    def answer(self, message):
        details = message.stop_details
        why = details.explanation if details else None
        blocks = [block.model_dump() for block in message.content]
        return self.answered(blocks, message.stop_reason, why, message.content)

    def answered(self, blocks, finish, why, turn):
        text = "".join(b["text"] for b in blocks if b["type"] == "text")
        calls = [Call(b["name"], json.dumps(b["input"]), b["id"]) for b in blocks if b["type"] == "tool_use"]
        return Answer(text, calls, finish, why, turn)

    def second(self, messages, answer):
        results = [{"type": "tool_result", "tool_use_id": c.id, "content": RESULT} for c in answer.calls]
        turn = {"role": "assistant", "content": answer.turn}
        return [*messages, turn, {"role": "user", "content": results or QUESTION}]


class MessagesStream(Messages):
    name = "anthropic-python .stream()"
    has_whole = False

    def stream(self, messages, seen):
        with self.client.messages.stream(**self.asked(messages)) as events:
            for event in events:
                seen.add(event)
                if event.type == "text":
                    seen.say(event.text)
            return self.answer(seen.add(events.get_final_message()))


if __name__ == "__main__":
    run(Messages, MessagesStream)
