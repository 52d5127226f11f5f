"""What can happen to a request on its way to the scripted server and back."""

import asyncio
import dataclasses
import json

#: The kinds, and what their value is.
KINDS = {
    "cutRequest": "at: the connection ends after so many bytes of the request; it is not processed",
    "cutAnswer": "at: it is processed, and the connection ends after so many bytes of the response",
    "lose": "status: it is processed, and a proxy answers this status with a page of its own",
    "delay": "ms: it is processed, and answered later",
    "delayRequest": "ms: it is processed later",
    "hold": "it is processed, and answered when the script releases it",
    "holdRequest": "it is processed when the script releases it",
    "double": "it is processed twice, and the second response is sent",
    "reorder": "it is answered after the next request of the same method, or after 150 ms",
    "refuse": "status, code, retryAfterSeconds, ms: it is not processed; the server answers an error, after so long",
    "page": "status, retryAfterSeconds: it is not processed; a proxy or a portal answers a page",
    "text": "status, body: it is not processed; this is answered as JSON",
}


@dataclasses.dataclass
class Fault:
    """What happens to the next requests of a method."""

    kind: str
    #: `AuthService/RefreshSession`, `/oauth2/token`, or `*`.
    on: str = "*"
    times: int = 1
    at: int = 0
    ms: int = 0
    status: int = 503
    code: str = "UNAVAILABLE"
    retryAfterSeconds: float | None = None
    body: str = ""
    #: Set when the script lets go of what is held, also of requests that haven't arrived.
    released: asyncio.Event = dataclasses.field(default_factory=asyncio.Event, repr=False)

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"there is no fault {self.kind}")

    def meets(self, method):
        return self.times > 0 and self.on in ("*", method)


@dataclasses.dataclass
class Answer:
    """A response."""

    status: int
    body: bytes
    headers: dict = dataclasses.field(default_factory=dict)

    def encode(self):
        head = [f"HTTP/1.1 {self.status} Status", f"content-length: {len(self.body)}"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(head) + "\r\n\r\n").encode() + self.body


#: The code of Connect, and its status, for each status of an error.
CONNECT = {
    400: ("invalid_argument", 400), 401: ("unauthenticated", 401), 403: ("permission_denied", 403), 404: ("not_found", 404),
    409: ("aborted", 409), 422: ("invalid_argument", 400), 429: ("resource_exhausted", 429), 500: ("internal", 500),
    503: ("unavailable", 503), 504: ("deadline_exceeded", 504),
}


def page(status, retry_after_seconds=None):
    """What a proxy or a portal answers."""
    headers = {"content-type": "text/html"}
    if retry_after_seconds is not None:
        headers["retry-after"] = f"{retry_after_seconds:.0f}"
    return Answer(status, b"<!DOCTYPE html><title>Wi-Fi</title><p>Please sign in to the hotel.", headers)


def json_answer(value, status=200):
    return Answer(status, json.dumps(value).encode(), {"content-type": "application/json"})


def error_value(status, reason, retry_after_seconds=None, fields=None):
    """An error in Connect's JSON, as the gateway writes it."""
    details = [{"type": "google.rpc.ErrorInfo", "value": "", "debug": {"reason": reason, "domain": "vestibule"}}]
    if fields:
        violations = [{"field": name, "reason": code, "description": f"{name} is wrong."} for name, code in fields.items()]
        details.append({"type": "google.rpc.BadRequest", "value": "", "debug": {"fieldViolations": violations}})
    if retry_after_seconds is not None:
        details.append({"type": "google.rpc.RetryInfo", "value": "", "debug": {"retryDelay": f"{retry_after_seconds:.10g}s"}})
    return {"code": CONNECT[status][0], "message": f"The error {reason}.", "details": details}


def error_answer(status, reason, retry_after_seconds=None, fields=None):
    return json_answer(error_value(status, reason, retry_after_seconds, fields), CONNECT[status][1])
