"""A server written with the Python package `mcp`: the same tools as `server.rs`."""

import os
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("python", log_level="ERROR")


@server.tool(description="Adds two numbers.")
def add(a: int, b: int) -> str:
    return str(a + b)


@server.tool(description="Always fails.")
def fail() -> str:
    raise ToolError("no such file")


@server.tool(description="Waits.")
async def wait(file: str) -> str:
    try:
        await anyio.sleep(600)
    except anyio.get_cancelled_exc_class():
        with open(file, "w") as told:
            told.write("cancelled")
        raise
    return "late"


@server.tool(description="Ends the server.")
def crash() -> str:
    os._exit(3)


@server.tool(name="read.big", description="A lot of text.")
def huge() -> str:
    return "x" * (1 << 20)


if sys.argv[1] == "stdio":
    server.run()
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
