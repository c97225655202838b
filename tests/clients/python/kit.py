"""What the Python drivers share: the scenarios, and one line of JSON for each outcome.

A client asks in its SDK's usual way and tells what it was handed as it comes; what it returns is an `Answer`.
"""

import dataclasses
import json
import os
import re
import urllib.request
from concurrent.futures import ThreadPoolExecutor

GATEWAY = os.environ["GATEWAY"]
# A gateway that tells of a block by the status.
BY_STATUS = os.environ["BY_STATUS"]
# A gateway that runs a tool itself; there is none through Envoy.
LOOP = os.environ.get("LOOP")
UPSTREAM = os.environ["UPSTREAM"]
# The scenarios, as `src/scenario.rs` has them.
STREAMED = os.environ["STREAMED"].split()
WHOLE = os.environ["WHOLE"].split()

QUESTION = "Go on."
RESULT = "done"
MODEL = "scripted"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = {"read_file": PATH, "run": COMMAND}

# Endings after which a caller goes on as if all were well.
NORMAL = {"stop", "tool_calls", "end_turn", "tool_use", "completed", "STOP"}


@dataclasses.dataclass
class Call:
    name: str
    arguments: str
    id: str


@dataclasses.dataclass
class Answer:
    text: str
    calls: list
    finish: str | None
    # The reason a refusal gives, where the SDK has a place for it.
    why: str | None = None
    # What goes into the next request, as the SDK made it.
    turn: object = None


class Gone(Exception):
    """The client leaves."""


class Seen:
    """All that an SDK hands out, as it comes."""

    def __init__(self, leaves):
        self.leaves = leaves
        self.text = ""
        self.objects = []

    def add(self, thing):
        self.objects.append(repr(thing))
        return thing

    def say(self, text):
        self.text += text or ""
        if self.leaves and self.text:
            raise Gone


class Client:
    """One way of asking. `name` is what the tables call it, `api` the format it speaks."""

    name = ""
    api = ""
    # An SDK's helpers over streams have no form of their own for whole answers.
    has_whole = True

    def __init__(self, scenario, whole):
        gateway = LOOP if scenario.startswith("loop-") else GATEWAY
        self.base = f"{BY_STATUS if scenario == 'blocked-status' else gateway}/{scenario}"
        # Held answers are longer than this: only keep-alives get a client over them.
        self.timeout = 1.5 if scenario == "long-hold" else 30.0
        self.tag = re.sub("[^a-z]+", "-", f"{self.api} {self.name} {'whole' if whole else 'streamed'}")
        self.headers = {"x-client": self.tag}
        # A block must not be asked for again: there the SDK retries what it always does.
        self.retries = scenario.startswith("blocked-")

    def stream(self, messages, seen):
        raise NotImplementedError

    def whole(self, messages, seen):
        raise NotImplementedError

    def first(self):
        raise NotImplementedError

    def second(self, messages, answer):
        raise NotImplementedError


def call_text(name, arguments):
    return f"{name} {json.dumps(json.loads(arguments), separators=(',', ':'))}"


def outcome(make, scenario, whole):
    client = make(scenario, whole)
    seen = Seen(leaves=scenario == "cancel")
    ask = client.whole if whole else client.stream
    said = {}
    try:
        messages = client.first()
        answer = ask(messages, seen)
        said["returns"] = answer.finish
        said["text"] = answer.text
        said["calls"] = [call_text(call.name, call.arguments) for call in answer.calls]
        if answer.why:
            said["why"] = answer.why
        seen.add(answer)
        if answer.finish in NORMAL and scenario != "cancel":
            said["second"] = second(client, ask, messages, answer)
    except Gone:
        said["upstream"] = told("fate", scenario, client)
        said["text"] = seen.text
    except Exception as error:
        seen.add(error)
        seen.add(str(error))
        seen.add(getattr(error, "body", None))
        said["raises"] = type(error).__name__
        said["message"] = str(error)
        said["text"] = seen.text
    if client.retries:
        said["asked"] = told("asked", scenario, client)
    return said, seen.objects


def told(what, scenario, client):
    """What the upstream knows of a client."""
    with urllib.request.urlopen(f"{UPSTREAM}/{what}/{scenario}/{client.tag}") as answer:
        return answer.read().decode()


def second(client, ask, messages, answer):
    """What the upstream says to the next turn; it checks the request as the API's own server would."""
    try:
        return ask(client.second(messages, answer), Seen(leaves=False)).text
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def run(*clients):
    jobs = [(client, name, False) for client in clients for name in STREAMED]
    jobs += [(client, name, True) for client in clients if client.has_whole for name in WHOLE]
    with ThreadPoolExecutor(8) as pool:
        for job, (said, objects) in zip(jobs, pool.map(lambda job: outcome(*job), jobs)):
            client, name, whole = job
            line = {
                "client": client.name,
                "api": client.api,
                "scenario": f"whole/{name}" if whole else name,
                "outcome": said,
                "handed_out": objects,
            }
            print(json.dumps(line), flush=True)
