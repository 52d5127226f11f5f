"""What is checked of every request: the rules that a kit has to keep, seen from the server."""

import json
import pathlib
import time

from sessions import Token

#: A request that was sent before another one may arrive after it.
OVERTAKING_SECONDS = 0.3


class Checks:
    """Finds violations of the rules of a session. `violations` are sentences."""

    def __init__(self, methods):
        self.methods = methods
        self.violations = []
        #: Folders of the clients' stores.
        self.stores = set()
        #: Whether all clients are in one process, which uses the newest access token that it has.
        self.in_order = True
        # The newest number of each session that was seen in a store.
        self._stored = {}
        # The newest number of each session whose access token was used, and when it was first.
        self._used = {}

    def records(self):
        """The records in the stores."""
        found = []
        for folder in self.stores:
            for file in pathlib.Path(folder).glob("*.json"):
                try:
                    found.append(json.loads(file.read_text()))
                except (ValueError, FileNotFoundError):
                    continue
        return [each for each in found if isinstance(each, dict)]

    def token(self, text):
        """Checks a token that is presented, at its arrival."""
        token = Token.read(text)
        session = self.methods.sessions.get(token.session) if token else None
        if session is None:
            return
        self._check_stored(token, session)
        if token.kind == "at":
            self._check_order(token)

    def _check_stored(self, token, session):
        held = []
        for record in self.records():
            current = record.get("session") or {}
            stored = Token.read(current.get("refreshToken") or "")
            if stored is not None:
                self._stored[stored.session] = max(stored.number, self._stored.get(stored.session, -1))
                held.append(stored)
            held += filter(None, (Token.read(each["refreshToken"]) for each in record.get("signOuts") or []))
        for other in held:
            if other.session != token.session:
                continue
            if token.kind == "rt" and other.number > token.number and session.ended is None:
                self.violations.append(f"{token} was presented although {other} is in the store")
            if other.number >= token.number:
                return
        # A session that has ended or was replaced meanwhile is no longer in the store.
        is_over = session.ended is not None or any(other.session > token.session for other in held)
        if not is_over and self._stored.get(token.session, -1) < token.number:
            self.violations.append(f"{token} was used before it was in the store")

    def _check_order(self, token):
        number, since = self._used.get(token.session, (-1, 0))
        if token.number > number:
            self._used[token.session] = (token.number, time.monotonic())
        elif self.in_order and token.number < number and time.monotonic() - since > OVERTAKING_SECONDS:
            self.violations.append(f"{token} was used although number {number} was used before")

    @property
    def stored_sessions(self):
        """The sessions that were seen in a store."""
        return list(self._stored)

    def refreshes(self, session, other):
        self.violations.append(f"two refreshes of session {session} were under way: by {other[0]} and {other[1]}")

    def ended(self):
        """Sessions that ended by themselves."""
        for session in self.methods.sessions.values():
            if "reused" in session.verdicts:
                self.violations.append(f"session {session.number} ended because a token was reused: {session.verdicts}")
        return self.violations
