"""The `openai` package: Chat Completions and Responses, iterated and through its stream helpers."""

import openai
from kit import MODEL, QUESTION, RESULT, TOOLS, Answer, Call, Client, run


class OpenAi(Client):
    def __init__(self, scenario, whole):
        super().__init__(scenario, whole)
        self.client = openai.OpenAI(
            base_url=f"{self.base}/v1",
            api_key="none",
            timeout=self.timeout,
            default_headers=self.headers,
            **({} if self.retries else {"max_retries": 0}),
        )


class Chat(OpenAi):
    name = "openai-python"
    api = "openai-chat"
    tools = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in TOOLS.items()]

    def first(self):
        return [{"role": "user", "content": QUESTION}]

    def stream(self, messages, seen):
        text, calls, finish, refusal = "", {}, None, ""
        with self.client.chat.completions.create(
            model=MODEL,
            messages=messages,
            tools=self.tools,
            stream=True,
            stream_options={"include_usage": True},
        ) as chunks:
            for chunk in chunks:
                seen.add(chunk)
                for choice in chunk.choices:
                    delta = choice.delta
                    text += delta.content or ""
                    refusal += delta.refusal or ""
                    for part in delta.tool_calls or []:
                        call = calls.setdefault(part.index, Call("", "", ""))
                        call.id += part.id or ""
                        call.name += part.function.name or ""
                        call.arguments += part.function.arguments or ""
                    finish = choice.finish_reason or finish
                    seen.say(delta.content)
        calls = list(calls.values())
        turn = {"role": "assistant", "content": text or None}
        if calls:
            turn["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in calls
            ]
        return Answer(text, calls, finish, refusal, turn)

    def whole(self, messages, seen):
        response = self.client.chat.completions.create(model=MODEL, messages=messages, tools=self.tools)
        return self.answer(seen.add(response))

    def answer(self, response):
        choice = response.choices[0]
        message = choice.message
        calls = [Call(c.function.name, c.function.arguments, c.id) for c in message.tool_calls or []]
        return Answer(message.content or "", calls, choice.finish_reason, message.refusal, message)

    def second(self, messages, answer):
        results = [{"role": "tool", "tool_call_id": call.id, "content": RESULT} for call in answer.calls]
        return [*messages, answer.turn, *(results or self.first())]


class ChatStream(Chat):
    name = "openai-python .stream()"
    has_whole = False

    def stream(self, messages, seen):
        with self.client.chat.completions.stream(model=MODEL, messages=messages, tools=self.tools) as events:
            for event in events:
                seen.add(event)
                if event.type == "content.delta":
                    seen.say(event.delta)
            answer = self.answer(seen.add(events.get_final_completion()))
            # The helper's message says null for all it does not have, which the API takes for some fields only.
            answer.turn = answer.turn.model_dump(exclude_none=True)
            return answer


class Responses(OpenAi):
    name = "openai-python"
    api = "openai-responses"
    tools = [{"type": "function", "name": n, "parameters": s, "strict": False} for n, s in TOOLS.items()]

    def first(self):
        return [{"role": "user", "content": QUESTION}]

    def stream(self, messages, seen):
        with self.client.responses.create(
            model=MODEL, input=messages, tools=self.tools, store=False, stream=True
        ) as events:
            response = None
            for event in events:
                seen.add(event)
                if event.type == "response.output_text.delta":
                    seen.say(event.delta)
                elif event.type == "error":
                    raise openai.APIError(event.message, None, body=event)
                elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                    response = event.response
        # A stream without an ending has no response.
        return self.answer(response) if response else Answer(seen.text, [], None)

    def whole(self, messages, seen):
        response = self.client.responses.create(model=MODEL, input=messages, tools=self.tools, store=False)
        return self.answer(seen.add(response))

    def answer(self, response):
        calls = [Call(i.name, i.arguments, i.call_id) for i in response.output if i.type == "function_call"]
        parts = [p for i in response.output if i.type == "message" for p in i.content]
        why = "".join(p.refusal for p in parts if p.type == "refusal")
        finish = response.status
        if response.incomplete_details:
            finish += f": {response.incomplete_details.reason}"
        return Answer(response.output_text, calls, finish, why, response.output)

    def second(self, messages, answer):
        results = [
            {"type": "function_call_output", "call_id": call.id, "output": RESULT} for call in answer.calls
        ]
        return [*messages, *answer.turn, *(results or self.first())]


class ResponsesStream(Responses):
    name = "openai-python .stream()"
    has_whole = False

    def stream(self, messages, seen):
        with self.client.responses.stream(
            model=MODEL, input=messages, tools=self.tools, store=False
        ) as events:
            for event in events:
                seen.add(event)
                if event.type == "response.output_text.delta":
                    seen.say(event.delta)
            return self.answer(seen.add(events.get_final_response()))


if __name__ == "__main__":
    run(Chat, ChatStream, Responses, ResponsesStream)
