"""The interoperability tests' page under Hypercorn (h11, h2, aioquic). Logs each request as it is answered, one JSON
object per line, to the file named in PHOTOFINISH_LOG."""

import json
import os

LOG = open(os.environ["PHOTOFINISH_LOG"], "a", buffering=1)
PAGE = os.environ["PHOTOFINISH_PAGE"].encode()


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body, kind = (PAGE, b"text/html") if scope["path"] == "/" else (b"", b"text/javascript")
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"timing-allow-origin", b"*"),
    ]
    print(json.dumps({"version": scope["http_version"], "path": scope["path"]}), file=LOG)
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
