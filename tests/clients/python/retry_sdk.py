"""The Python SDKs beyond a client's limit: each is refused with status 429, and comes back by its own means.

Prints a line of JSON for each SDK and limit: what the caller got. What the gateway saw is in its log.
"""

import json
import os
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai
from google import genai
from google.genai import types

GATEWAY = os.environ["GATEWAY"]
# The log of the gateway.
REQUESTS = os.environ["REQUESTS"]
BASE = f"{GATEWAY}/passthrough"
QUESTION = "Go on."
ASKED = [{"role": "user", "content": QUESTION}]


def openai_chat(key):
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key=key)
    chunks = client.chat.completions.create(model="scripted", messages=ASKED, stream=True)
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def openai_responses(key):
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key=key)
    events = client.responses.create(model="scripted", input=ASKED, stream=True)
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def anthropic_messages(key):
    client = anthropic.Anthropic(base_url=BASE, api_key=key)
    with client.messages.stream(model="scripted", max_tokens=100, messages=ASKED) as stream:
        return "".join(stream.text_stream)


def google_genai(key):
    # The SDK retries where it is told to; how, is its own.
    options = types.HttpOptions(base_url=BASE, retry_options=types.HttpRetryOptions())
    client = genai.Client(api_key=key, http_options=options)
    chunks = client.models.generate_content_stream(model="scripted", contents=QUESTION)
    parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
    return "".join(part.text or "" for part in parts)


SDKS = {
    "openai-python": openai_chat,
    "openai-python-responses": openai_responses,
    "anthropic-python": anthropic_messages,
    "google-genai-python": google_genai,
}


def use_up(key):
    """Asks until the client's requests of the minute are used up."""
    for _ in range(100):
        request = urllib.request.Request(f"{GATEWAY}/used-up", headers={"x-api-key": key})
        try:
            urllib.request.urlopen(request)
        except urllib.error.HTTPError as refused:
            if refused.code == 429:
                return
    raise SystemExit("expected status 429 at last, found none")


def was_refused(client):
    """Whether the gateway has refused a request of this client."""
    with open(REQUESTS) as log:
        lines = [json.loads(line) for line in log if line.endswith("\n")]
    return any(line["client"] == client and line["status"] == 429 for line in lines)


def take_place(key):
    """Holds the client's only place until another request of the client was refused."""
    body = json.dumps({"model": "scripted", "stream": True, "messages": ASKED}).encode()
    headers = {"x-api-key": key, "content-type": "application/json"}
    request = urllib.request.Request(f"{GATEWAY}/long-hold/v1/chat/completions", body, headers)
    held = urllib.request.urlopen(request)

    def leave():
        while not was_refused(key.removeprefix("key-of-")):
            time.sleep(0.05)
        held.close()

    threading.Thread(target=leave, daemon=True).start()


def outcome(job):
    name, limit = job
    key = f"key-of-{name}-{limit}"
    (use_up if limit == "rate" else take_place)(key)
    try:
        return SDKS[name](key)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


jobs = [(name, limit) for name in SDKS for limit in ("rate", "streams")]
with ThreadPoolExecutor(len(jobs)) as pool:
    for (name, limit), text in zip(jobs, pool.map(outcome, jobs)):
        print(json.dumps({"client": name, "limit": limit, "text": text}))
