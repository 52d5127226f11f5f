"""A backend of an app: each user's orders. Listing them is done by the token's signature alone; deleting them asks whether the session
is still alive.

    ISSUER=https://id.example.com CLIENT_ID=orders CLIENT_SECRET=… python3 server.py 8000
"""

import http.server
import json
import os
import sys

import jwt

from introspection import Introspection
from tokens import TokenVerifier


class Unauthorized(Exception):
    """The app has to get another token, or the user to sign in."""


class Orders(http.server.BaseHTTPRequestHandler):
    """Serves `/orders`."""

    protocol_version = "HTTP/1.1"
    orders = {}

    # cut: server
    def do_GET(self):
        self.serve(lambda: self.orders.setdefault(self.user(), []))

    def do_DELETE(self):
        self.serve(lambda: self.orders.pop(self.live_user(), []))

    def user(self):
        """The id of the user who calls, by the token's signature."""
        try:
            return self.server.verifier.claims(self.token())["sub"]
        except jwt.InvalidTokenError as error:
            raise Unauthorized from error

    def live_user(self):
        """The id of the user who calls, if the session hasn't ended."""
        claims = self.server.introspection.claims(self.token())
        if claims is None:
            raise Unauthorized
        return claims["sub"]

    def token(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthorized
        return token

    def serve(self, answer):
        try:
            self.respond(200, answer())
        except Unauthorized:
            # The app asks its kit for another token, `accessToken(insteadOf:)`, and calls once more.
            self.respond(401, {"error": "invalid_token"}, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        except OSError:
            # Nothing is known about the token: the app keeps it and tries again.
            self.respond(503, {"error": "temporarily_unavailable"}, {"Retry-After": "1"})
    # cut end

    def respond(self, status, value, fields=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, field in {"Content-Type": "application/json", "Content-Length": str(len(body)), **(fields or {})}.items():
            self.send_header(name, field)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Logs nothing: a request line is of no use here, and a header would be a secret."""


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Orders)
    issuer = os.environ["ISSUER"]
    server.verifier = TokenVerifier(issuer)
    server.introspection = Introspection(issuer, os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
