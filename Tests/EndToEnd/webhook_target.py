"""A webhook target on this machine."""

import base64
import http.server
import json
import os
import threading
import time

import process_table

SECONDS = 20


def secret():
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


class Target(http.server.ThreadingHTTPServer):
    """A target on this machine, which records its messages and answers as a test wants."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.messages, self.status, self.headers, self.pause = [], 204, {}, 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/hooks?token=in-the-url"

    def told(self, kind, user_id=None):
        """The messages of a type, about a user, as (headers, JSON)."""
        with self.lock:
            found = [(headers, json.loads(body)) for headers, body in self.messages]
        return [(headers, message) for headers, message in found if message["type"] == kind
                and (user_id is None or message["data"]["user_id"] == user_id)]

    def wait_for(self, kind, user_id, count=1):
        process_table.wait_until(
            lambda: len(self.told(kind, user_id)) >= count, SECONDS, lambda: f"{count} {kind}; there is {self.messages}")
        return self.told(kind, user_id)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.messages.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status, headers = self.server.status, self.server.headers
            pause = self.server.pause
        time.sleep(pause)
        self.send_response(status)
        for name, value in {"Content-Length": "2", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if "Transfer-Encoding" not in headers and status != 204:
            self.wfile.write(b"ok")

    def log_message(self, *_):
        pass
