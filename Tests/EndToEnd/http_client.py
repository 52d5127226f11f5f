"""JSON over HTTP as an app speaks it, and the bare connection for what no app would send."""

import dataclasses
import http.client
import json
import socket

SECONDS = 15


@dataclasses.dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)

    @property
    def code(self):
        """A problem's stable word."""
        return self.json["code"]

    def expect(self, status):
        assert self.status == status, f"expected {status}, got {self.status}: {self.content[:400]!r}"
        return self.json if self.content else None

    def problem(self, status, code, fields=None, more=()):
        """Checks that this is the problem that was expected, in the form that every problem has (RFC 9457), with `more` members."""
        assert (self.status, self.content[:1]) == (status, b"{"), (self.status, self.content[:400])
        body = self.json
        assert body["code"] == code, body
        assert self.headers["Content-Type"] == "application/problem+json"
        challenge = self.headers.get("WWW-Authenticate", "")
        if 'error="insufficient_user_authentication"' in challenge:
            # What would be enough (RFC 9470 section 3), said twice.
            assert status == 403 and f'acr_values="{" ".join(body["acr_values"])}"' in challenge, challenge
            assert ("max_age" in body) == ("max_age=" in challenge)
            more = (*more, "acr_values", *(["max_age"] if "max_age" in body else []))
        assert set(body) - {"fields"} == {"type", "title", "status", "detail", "code", *more}
        assert body["type"] == "about:blank" and body["status"] == status
        assert body["title"] and body["detail"].endswith(".")
        for field in body.get("fields", []):
            assert set(field) == {"field", "code", "detail"} and all(field.values())
        told = [(field["field"], field["code"]) for field in body.get("fields", [])]
        assert told == (fields or []), body
        if status == 401:
            # Of tokens that are bound to a key, and of proofs (RFC 9449 section 7.1).
            is_of_key = code.startswith("DPOP_") or challenge.startswith("DPoP") and code == "ACCESS_TOKEN_INVALID"
            assert challenge.startswith(f'{"DPoP" if is_of_key else "Bearer"} realm="vestibule"'), challenge
        if status in (429, 503, 504) and code != "OUTCOME_UNKNOWN":
            assert int(self.headers["Retry-After"]) >= 1
        return body


class Client:
    """Sends requests to one address, each on a connection of its own."""

    def __init__(self, address, source=None, context=None):
        """`source` is the address to come from; `context` is that of TLS, without which requests go in clear text."""
        self.address = address
        self._context = context
        self._host, port = address.rsplit(":", 1)
        self._port = int(port)
        self.source = source

    def send(self, method, path, json_body=None, token=None, body=None, headers=None, seconds=SECONDS):
        sent = dict(headers or {})
        if json_body is not None:
            body = json.dumps(json_body).encode()
            sent.setdefault("Content-Type", "application/json")
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        connection = self.connect(seconds)
        try:
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def connect(self, seconds=SECONDS):
        """A connection that is not opened yet, for requests one after the other."""
        how = {"timeout": seconds, "source_address": (self.source, 0) if self.source else None}
        if self._context:
            return http.client.HTTPSConnection(self._host, self._port, context=self._context, **how)
        return http.client.HTTPConnection(self._host, self._port, **how)

    def get(self, path, **how):
        return self.send("GET", path, **how)

    def post(self, path, json_body=None, **how):
        return self.send("POST", path, json_body, **how)

    def patch(self, path, json_body=None, **how):
        return self.send("PATCH", path, json_body, **how)

    def send_bytes(self, request, seconds=SECONDS):
        """Sends bytes as they are and returns the answer to the first request in them."""
        with socket.create_connection((self._host, self._port), timeout=seconds) as connection:
            try:
                connection.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass  # Refused before all was sent: the answer says so.
            response = http.client.HTTPResponse(connection)
            response.begin()
            return Answer(response.status, response.headers, response.read())
