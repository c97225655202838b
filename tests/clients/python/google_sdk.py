"""The `google-genai` package: `generate_content_stream`, and its chats, which keep the history themselves."""

import contextlib
import json
from types import SimpleNamespace

from google import genai
from google.genai import types
from kit import MODEL, QUESTION, RESULT, TOOLS, Answer, Call, Client, run


class Models(Client):
    name = "google-genai-python"
    api = "gemini"

    def __init__(self, scenario, whole):
        super().__init__(scenario, whole)
        self.client = genai.Client(
            api_key="none",
            http_options=types.HttpOptions(
                base_url=self.base,
                headers=self.headers,
                timeout=int(self.timeout * 1000),
                retry_options=None if self.retries else types.HttpRetryOptions(attempts=1),
            ),
        )
        declared = [{"name": n, "parameters_json_schema": s} for n, s in TOOLS.items()]
        self.config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declared)])

    def first(self):
        return [types.Content(role="user", parts=[types.Part(text=QUESTION)])]

    def stream(self, messages, seen):
        chunks = self.client.models.generate_content_stream(
            model=MODEL, contents=messages, config=self.config
        )
        return self.answer(self.read(chunks, seen))

    def read(self, chunks, seen):
        said = SimpleNamespace(parts=[], finish=None, why=None, feedback=None)
        with contextlib.closing(chunks):
            for chunk in chunks:
                seen.add(chunk)
                self.note(chunk, said)
                seen.say("".join(p.text or "" for p in parts_of(chunk) if not p.thought))
        return said

    def whole(self, messages, seen):
        said = SimpleNamespace(parts=[], finish=None, why=None, feedback=None)
        response = self.client.models.generate_content(model=MODEL, contents=messages, config=self.config)
        self.note(seen.add(response), said)
        return self.answer(said)

    def note(self, chunk, said):
        said.parts += parts_of(chunk)
        for candidate in chunk.candidates or []:
            if candidate.finish_reason:
                said.finish = candidate.finish_reason.value
            said.why = candidate.finish_message or said.why
        if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            said.finish = f"promptFeedback: {chunk.prompt_feedback.block_reason.value}"
            said.why = chunk.prompt_feedback.block_reason_message

    def answer(self, said):
        text = "".join(p.text or "" for p in said.parts if not p.thought)
        called = [p.function_call for p in said.parts if p.function_call]
        calls = [Call(c.name, json.dumps(c.args), c.id) for c in called]
        parts = [p for p in said.parts if p.text != ""]
        return Answer(text, calls, said.finish, said.why, types.Content(role="model", parts=parts))

    def results(self, answer):
        return [
            types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"r": RESULT}))
            for c in answer.calls
        ]

    def second(self, messages, answer):
        results = self.results(answer) or [types.Part(text=QUESTION)]
        return [*messages, answer.turn, types.Content(role="user", parts=results)]


class Chats(Models):
    name = "google-genai-python chats"

    def __init__(self, scenario, whole):
        super().__init__(scenario, whole)
        self.chat = self.client.chats.create(model=MODEL, config=self.config)

    def first(self):
        return QUESTION

    def stream(self, messages, seen):
        return self.answer(self.read(self.chat.send_message_stream(messages), seen))

    def whole(self, messages, seen):
        said = SimpleNamespace(parts=[], finish=None, why=None, feedback=None)
        self.note(seen.add(self.chat.send_message(messages)), said)
        return self.answer(said)

    def second(self, messages, answer):
        return self.results(answer) or QUESTION


def parts_of(chunk):
    return [p for c in chunk.candidates or [] if c.content for p in c.content.parts or []]


if __name__ == "__main__":
    run(Models, Chats)
