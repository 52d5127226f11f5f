"""An app that watches its person's groups by `GET /me/events`."""

import contextlib
import json
import threading

import process_table

SECONDS = 20


class Watching:
    """One stream, read by a thread of its own."""

    def __init__(self, app, position=None, client=None):
        headers = {"Authorization": f"Bearer {app.access_token}"}
        if position:
            headers["Last-Event-ID"] = position
        self._connection = (client or app.gateway).connect(60)
        self._connection.request("GET", "/me/events", headers=headers)
        self.answer = self._connection.getresponse()
        self.events, self.position, self.is_over = [], position, False
        self._thread = threading.Thread(target=self._read, daemon=True)
        if self.answer.status == 200:
            assert self.answer.headers["Content-Type"] == "text/event-stream"
            self._thread.start()
            self.wait(lambda: self.events, "the beginning")

    def __enter__(self):
        assert self.answer.status == 200, self.answer.read()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Goes away; what was not taken by now is missed."""
        with contextlib.suppress(OSError, AttributeError):
            self.answer.fp.raw._sock.shutdown(2)
        if self._thread.ident:
            self._thread.join(SECONDS)
            assert not self._thread.is_alive()
        self._connection.close()

    @property
    def kinds(self):
        return [name for name, _ in self.events]

    @property
    def changes(self):
        return [change for name, data in list(self.events) if name == "changes" for change in data["changes"]]

    def has(self, kind, group=None, member=None):
        return any(
            each["type"] == kind and group in (None, each.get("group_id")) and member in (None, each.get("member_id"))
            for each in self.changes)

    def wait(self, found, what, seconds=SECONDS):
        process_table.wait_until(found, seconds, lambda: f"{what}; there came {self.events}")

    def wait_for(self, kind, group=None, member=None):
        self.wait(lambda: self.has(kind, group, member), f"{kind} of {group}")

    def wait_for_end(self, code=None):
        self.wait(lambda: self.is_over, "the end")
        if code:
            assert self.events[-1][0] == "end" and self.events[-1][1]["code"] == code, self.events

    def _read(self):
        event = {}
        with contextlib.suppress(OSError, ValueError, AttributeError):
            for line in self.answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value
                elif "event" in event:
                    # As browsers do: the position counts with its event.
                    self.position = event.get("id", self.position)
                    self.events.append((event["event"], json.loads(event["data"])))
                    event = {}
                else:
                    event = {}
        self.is_over = True
