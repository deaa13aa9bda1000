# SPDX-License-Identifier: Apache-2.0
"""An ASGI application that returns each request as JSON, and echoes the messages of a WebSocket.

It also appends each request, as a line of JSON, to the file in GATEHOUSE_SEEN. Requests that arrive through a tunnel are in it too.
"""

import json
import os


def record(scope):
    fields = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
    said = {"method": scope.get("method", "WEBSOCKET"), "target": scope["raw_path"].decode("latin-1"),
            "version": scope["http_version"], "fields": fields}
    with open(os.environ["GATEHOUSE_SEEN"], "a") as file:
        file.write(json.dumps(said) + "\n")
    return json.dumps(said).encode()


async def app(scope, receive, send):
    if scope["type"] == "http":
        body = record(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [
            (b"content-type", b"application/json"), (b"x-application", b"yes"), (b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})
    elif scope["type"] == "websocket":
        first = record(scope).decode()
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": first})
        while (event := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": "back: " + event["text"]})
