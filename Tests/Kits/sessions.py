"""The server's rules of refresh (`IdentityStore+Refresh.swift`, `IdentityStore+Acknowledgements.swift`) as values, on a clock in memory."""

import dataclasses

GRACE_SECONDS = 30


class Refused(Exception):
    """An error that the server answers, with its code."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


@dataclasses.dataclass
class Session:
    """A session's row. Tokens are numbered as they are issued."""

    number: int
    user: str
    #: The client of OpenID that it was opened for; refreshed at the token endpoint then.
    client_id: str | None = None
    generation: int = 0
    base: int = -1
    previous: int = -1
    first_child: int = 0
    rotated_at: float = 0
    acknowledged_at: float = 0
    #: The code of the refusal, once it has ended.
    ended: str | None = None
    #: What was decided about each refresh, in turn.
    verdicts: list = dataclasses.field(default_factory=list)

    def refresh(self, number, now):
        """The number of the token that is handed out for one that is presented; `now` is when it arrived. Raises `Refused`."""
        verdict = self._verdict(number, now)
        self.verdicts.append(verdict)
        if verdict == "ended":
            raise Refused(self.ended)
        if verdict == "reused":
            self.ended = "SESSION_REVOKED"
            raise Refused("REFRESH_TOKEN_REUSED")
        if verdict in ("unknown", "late"):
            raise Refused("REFRESH_TOKEN_INVALID")
        if verdict == "repeated":
            return self.generation
        if verdict == "joined":
            return self.base
        if number != self.base:
            self.previous, self.base = self.base, number
            self.first_child, self.acknowledged_at = self.generation + 1, now
        self.generation += 1
        self.rotated_at = now
        return self.generation

    def _verdict(self, number, now):
        if self.ended:
            return "ended"
        if number > self.generation:
            return "unknown"
        if number >= self.first_child:
            return "rotated"
        if number == self.base:
            if self.generation < self.first_child:
                return "rotated"
            return "repeated" if self.rotated_at > now - GRACE_SECONDS else "sibling"
        if number >= self.previous and self.acknowledged_at > now - GRACE_SECONDS:
            return "joined"
        # The session has moved on while the request waited.
        return "late" if self.acknowledged_at > now else "reused"

    def use(self, number, now):
        """An access token of that number is used. Raises `Refused`."""
        if self.ended:
            raise Refused(self.ended)
        if number >= self.first_child:
            self.previous, self.base = self.base, number
            self.first_child, self.acknowledged_at = self.generation + 1, now
        elif self.previous < number != self.base and self.acknowledged_at <= now - GRACE_SECONDS:
            self.ended = "SESSION_REVOKED"
            self.verdicts.append("reused")
            raise Refused("SESSION_REVOKED")


@dataclasses.dataclass(frozen=True)
class Token:
    """A token, whose text says what it is: `at.3.7.1200` is the access token of session 3 with the number 7 that is good until second
    1200; `rt.3.7` the refresh token beside it."""

    kind: str
    session: int
    number: int
    expires_at: float = 0

    def __str__(self):
        end = f".{self.expires_at:.0f}" if self.kind == "at" else ""
        return f"{self.kind}.{self.session}.{self.number}{end}"

    @classmethod
    def read(cls, text):
        """The token, or None."""
        kind, *numbers = text.split(".")
        if kind not in ("at", "rt") or len(numbers) != {"at": 3, "rt": 2}[kind] or not all(each.isdigit() for each in numbers):
            return None
        return cls(kind, *map(int, numbers))
