"""What the Python SDKs make of the streams in cases.json: one line of JSON for each case and client.

The models of stream-testkit are held against these readings (readings.json). A local server answers with the bytes as they
are; no gateway stands between.
"""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anthropic
import openai
from google import genai
from google.genai import types

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
MESSAGES = [{"role": "user", "content": "Go on."}]


class Upstream(BaseHTTPRequestHandler):
    """Answers `/{number}/…` with the bytes of that case."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = CASES[int(self.path.split("/")[1])]["body"].encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def call(name, arguments, kind="function"):
    return {"kind": kind, "name": name or "", "arguments": arguments or ""}


def chat_helper(base):
    with openai.OpenAI(base_url=f"{base}/v1", api_key="x", max_retries=0).chat.completions.stream(
        model="m", messages=MESSAGES
    ) as events:
        for _ in events:
            pass
        messages = [choice.message for choice in events.get_final_completion().choices]
    calls = [call(c.function.name, c.function.arguments) for m in messages for c in m.tool_calls or []]
    return calls, "".join(m.content or "" for m in messages)


def chat_loop(base):
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="x", max_retries=0)
    calls, text = {}, ""
    for chunk in client.chat.completions.create(model="m", messages=MESSAGES, stream=True):
        for choice in chunk.choices or []:
            text += choice.delta.content or ""
            for part in choice.delta.tool_calls or []:
                made = calls.setdefault((choice.index, part.index), call("", ""))
                made["name"] += part.function.name or ""
                made["arguments"] += part.function.arguments or ""
    return list(calls.values()), text


def messages_helper(base):
    client = anthropic.Anthropic(base_url=base, api_key="x", max_retries=0)
    with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
        blocks = stream.get_final_message().content
    calls = [call(b.name, json.dumps(b.input)) for b in blocks if b.type == "tool_use"]
    return calls, "".join(b.text for b in blocks if b.type == "text")


def messages_loop(base):
    client = anthropic.Anthropic(base_url=base, api_key="x", max_retries=0)
    blocks, opened = {}, []
    for event in client.messages.create(model="m", max_tokens=9, messages=MESSAGES, stream=True):
        if event.type == "message_start":
            opened += [(block, "") for block in event.message.content]
        if event.type == "content_block_start":
            opened.append((event.content_block, ""))
            blocks[event.index] = len(opened) - 1
        if event.type == "content_block_delta" and event.index in blocks:
            block, said = opened[blocks[event.index]]
            said += getattr(event.delta, "partial_json", "") or getattr(event.delta, "text", "")
            opened[blocks[event.index]] = (block, said)
    calls = [call(b.name, said or json.dumps(b.input)) for b, said in opened if b.type == "tool_use"]
    return calls, "".join(b.text + said for b, said in opened if b.type == "text")


def items(output):
    calls = []
    for item in output or []:
        if item.type == "function_call":
            calls.append(call(item.name, item.arguments))
        elif item.type == "local_shell_call":
            calls.append(call(item.type, json.dumps(item.action.model_dump(exclude_unset=True)), item.type))
    texts = [part.text for item in output or [] if item.type == "message" for part in item.content]
    return calls, "".join(texts)


def responses_helper(base):
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="x", max_retries=0)
    with client.responses.stream(model="m", input="Go on.") as events:
        for _ in events:
            pass
        return items(events.get_final_response().output)


def responses_loop(base):
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="x", max_retries=0)
    events = client.responses.create(model="m", input="Go on.", stream=True)
    return items([event.item for event in events if event.type == "response.output_item.done"])


def gemini(base):
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=base))
    calls, text = [], ""
    for chunk in client.models.generate_content_stream(model="m", contents="Go on."):
        for part in (chunk.candidates[0].content.parts or []) if chunk.candidates and chunk.candidates[0].content else []:
            text += part.text or ""
            if part.function_call:
                calls.append(call(part.function_call.name, json.dumps(part.function_call.args or {})))
    return calls, text


CLIENTS = {
    "openai-chat": {"openai-python .stream()": chat_helper, "openai-python": chat_loop},
    "anthropic-messages": {"anthropic-python .stream()": messages_helper, "anthropic-python": messages_loop},
    "openai-responses": {
        "openai-python .stream() (responses)": responses_helper,
        "openai-python (responses)": responses_loop,
    },
    "gemini": {"google-genai-python": gemini},
}


def reading(job):
    base, case, client = job
    said = {"case": f"{case['api']}: {case['name']}", "client": client}
    try:
        calls, text = CLIENTS[case["api"]][client](base)
        return said | {"calls": [made for made in calls if made["name"]], "text": text}
    except Exception as error:
        return said | {"raises": type(error).__name__}


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    jobs = [(f"{base}/{n}", case, client) for n, case in enumerate(CASES) for client in CLIENTS[case["api"]]]
    with ThreadPoolExecutor(4) as pool:
        for line in pool.map(reading, jobs):
            print(json.dumps(line))
    sys.stdout.flush()
    server.shutdown()


if __name__ == "__main__":
    main()
