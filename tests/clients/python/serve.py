"""
Serves the application of a module: `python serve.py MODULE PORT`. It prints a line of JSON for each request: what the
application answered. FAIL_FIRST successes are answered with 500 all the same.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

left_to_fail = int(os.environ.get("FAIL_FIRST", "0"))


def decide_status(status: int, timestamp: str) -> int:
    global left_to_fail
    print(json.dumps({"status": status, "timestamp": timestamp}), flush=True)
    if status >= 300 or left_to_fail == 0:
        return status
    left_to_fail -= 1
    return 500


def wrap_wsgi(app: Any) -> Any:
    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        def decide(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            decided = decide_status(int(status[:3]), environ.get("HTTP_X_WEBHOOK_TIMESTAMP", ""))
            return start_response(f"{decided} X", headers, *rest)

        return app(environ, decide)  # type: ignore[no-any-return]

    return wrapped


def wrap_asgi(app: Any) -> Any:
    async def wrapped(scope: dict[str, Any], receive: Any, send: Any) -> None:
        async def decide(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                timestamp = dict(scope["headers"]).get(b"x-webhook-timestamp", b"").decode()
                message["status"] = decide_status(message["status"], timestamp)
            await send(message)

        await app(scope, receive, decide if scope["type"] == "http" else send)

    return wrapped


def read_early(app: Any) -> None:
    """Reads the body before the view if the query is `early`, as a plugin that logs requests does."""
    from flask import request

    @app.before_request  # type: ignore[untyped-decorator]
    def read() -> None:
        if request.query_string == b"early":
            request.get_data()


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    app = importlib.import_module(sys.argv[1]).app
    port = int(sys.argv[2])
    if hasattr(app, "wsgi_app"):
        read_early(app)
        make_server("127.0.0.1", port, wrap_wsgi(app), handler_class=QuietHandler).serve_forever()
    else:
        import uvicorn

        uvicorn.run(wrap_asgi(app), host="127.0.0.1", port=port, log_level="error")


main()
