"""What the scripted server answers: the methods that the kits call first, on users, sessions and groups in memory."""

import base64
import hashlib
import json
import time
import urllib.parse
import uuid

from faults import Answer, error_answer, error_value, json_answer
from sessions import Refused, Session, Token

ACCESS_TOKEN_SECONDS = 600
REPLAY_SECONDS = 60
CHALLENGE_SECONDS = 300
WORK_BITS = 6
#: Of refusals that don't have the status 401.
STATUS = {"ACCOUNT_BLOCKED": 403, "RECENT_SIGN_IN_REQUIRED": 403, "GROUP_NAME_INVALID": 422, "ROUTE_NOT_FOUND": 404,
          "WORK_INVALID": 400, "WORK_EXPIRED": 400, "WORK_SPENT": 400, "GUEST_TOKEN_INVALID": 400, "GUEST_NOT_ALLOWED": 403, "GUEST_INVALID": 422}


def user_id(person):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://people.example/{person}"))


def session_id(number):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://sessions.example/{number}"))


class Methods:
    """Users, sessions and groups, and the methods on them."""

    def __init__(self, access_token_seconds=ACCESS_TOKEN_SECONDS, work_bits=WORK_BITS):
        self.work_bits = work_bits
        self.access_token_seconds = access_token_seconds
        self.issuer = ""
        self.sessions = {}
        self.codes = {}
        self.sign_ins = {}
        self.groups = {}
        # The sessions that proofs of work have opened, and when; and the user ids of guests.
        self.proofs = {}
        self.guests = set()
        #: What became of guests, by user id: "merge" or "drop".
        self.absorbed = {}
        self.challenges = {}
        #: How many groups were created; an idempotency key that comes again creates none.
        self.groups_created = 0
        self.avatars = {}
        self._advanced = 0
        # When the request that is being processed arrived.
        self._arrived = None

    def now(self):
        """The server's clock in seconds."""
        return time.monotonic() + self._advanced

    def advance(self, seconds):
        self._advanced += seconds

    def end_sessions(self, code="SESSION_REVOKED"):
        """Ends all sessions for a reason."""
        for session in self.sessions.values():
            session.ended = session.ended or code

    # Tokens

    def open_session(self, person, client_id=None):
        number = len(self.sessions) + 1
        self.sessions[number] = Session(number, user_id(person), client_id, rotated_at=self.now(), acknowledged_at=self.now())
        return self.sessions[number]

    def _tokens(self, session, number):
        return (str(Token("at", session.number, number, self.now() + self.access_token_seconds)),
                str(Token("rt", session.number, number)))

    def _tokens_value(self, session, number):
        access, refresh = self._tokens(session, number)
        return {"accessToken": access, "refreshToken": refresh, "expiresInSeconds": self.access_token_seconds,
                "userId": session.user, "sessionId": session_id(session.number)}

    def _refresh(self, text, client_id):
        token = Token.read(text)
        session = self.sessions.get(token.session) if token and token.kind == "rt" else None
        if session is None or session.client_id != client_id:
            raise Refused("REFRESH_TOKEN_INVALID")
        return session, session.refresh(token.number, self._arrived)

    def caller(self, headers):
        """The session of the access token. Raises `Refused`."""
        text = headers.get("authorization", "").removeprefix("Bearer ")
        if not text:
            raise Refused("AUTHENTICATION_REQUIRED")
        token = Token.read(text)
        session = self.sessions.get(token.session) if token and token.kind == "at" else None
        if session is None:
            raise Refused("ACCESS_TOKEN_INVALID")
        session.use(token.number, self._arrived)
        if token.expires_at <= self.now():
            raise Refused("ACCESS_TOKEN_EXPIRED")
        return session

    # Requests

    def answer(self, method, headers, body, arrived):
        """The response to a request: `AuthService/SignOut`, or a path with its verb. One that waited is judged by the time at which it
        arrived, as identity does with late copies (docs/sessions/stolen-tokens.md)."""
        self._arrived = arrived
        try:
            if method in ("/oauth2/token", "/oauth2/revoke"):
                form = {name: values[0] for name, values in urllib.parse.parse_qs(body.decode()).items()}
                return self._issue(form) if method == "/oauth2/token" else self._revoke(form)
            if method.endswith("/me/avatar"):
                return self._avatar(method.split(" ")[0], headers, body)
            request = json.loads(body or b"{}")
            name = method.rpartition("/")[2]
            handler = getattr(self, f"_{name}", None)
            if handler is None:
                self.caller(headers)
                return json_answer({})
            return json_answer(handler(headers, request))
        except Refused as refused:
            return error_answer(STATUS.get(refused.code, 401), refused.code, fields=getattr(refused, "fields", None))

    def _SignInWithProvider(self, headers, request):
        kind, _, person = request.get("idToken", "").partition(".")
        if kind == "blocked":
            raise Refused("ACCOUNT_BLOCKED")
        if kind != "person":
            raise Refused("TOKEN_SIGNATURE")
        # The same credentials within a minute, before a refresh, bring the same session.
        credentials = (request["idToken"], request.get("nonce"))
        session, opened_at, is_new = self.sign_ins.get(credentials, (None, 0, False))
        if session is None or request.get("nonce") is None:
            is_new = all(session.user != user_id(person) for session in self.sessions.values())
            session = self.open_session(person)
            self.sign_ins[credentials] = session, self.now(), is_new
        elif session.generation > 0 or session.ended or self.now() - opened_at > REPLAY_SECONDS:
            raise Refused("TOKEN_REPLAYED")
        return {"tokens": self._tokens_value(session, 0), "isNewUser": is_new, "missingFields": ["display_name"]}

    # Guests

    def _CreateGuestChallenge(self, headers, request):
        challenge = f"challenge-{len(self.challenges) + 1}"
        self.challenges[challenge] = self.now() + CHALLENGE_SECONDS
        return {"challenge": challenge, "expiresInSeconds": CHALLENGE_SECONDS, **({"workBits": self.work_bits} if self.work_bits else {})}

    def _SignInAsGuest(self, headers, request):
        proof = request.get("proofOfWork", "")
        challenge, _, digits = proof.partition(".")
        solves = int.from_bytes(hashlib.sha256(proof.encode()).digest()) >> (256 - self.work_bits) == 0
        if challenge not in self.challenges or not digits.isdecimal() or len(digits) > 20 or not solves:
            raise Refused("WORK_INVALID")
        if self.challenges[challenge] <= self.now():
            raise Refused("WORK_EXPIRED")
        session, opened_at = self.proofs.get(challenge, (None, 0))
        if session is None:
            session = self.open_session(f"guest of {challenge}")
            self.proofs[challenge] = session, self.now()
            self.guests.add(session.user)
        elif session.generation > 0 or session.ended or self.now() - opened_at > REPLAY_SECONDS:
            raise Refused("WORK_SPENT")
        return {"tokens": self._tokens_value(session, 0), "missingFields": ["display_name"]}

    def _LinkProvider(self, headers, request):
        session = self.caller(headers)
        linked = {"providers": [{"provider": request["credentials"].get("provider")}]}
        if session.user not in self.guests:
            return linked
        for each in self.sessions.values():
            if each.user == session.user:
                each.ended = each.ended or "SESSION_REVOKED"
        self.guests.remove(session.user)
        number = len(self.sessions) + 1
        full = self.sessions[number] = Session(number, session.user, rotated_at=self.now(), acknowledged_at=self.now())
        return linked | {"session": {"tokens": self._tokens_value(full, 0)}}

    def _AbsorbGuest(self, headers, request):
        caller = self.caller(headers)
        token = Token.read(request.get("guestToken", ""))
        guest = self.sessions.get(token.session) if token and token.kind == "rt" else None
        if guest is not None and guest.user in self.absorbed:
            return {}
        if caller.user in self.guests:
            raise Refused("GUEST_NOT_ALLOWED")
        if guest is None or guest.user not in self.guests or guest.ended or token.number < guest.base:
            raise Refused("GUEST_TOKEN_INVALID")
        outcome = request.get("guest", "").removeprefix("GUEST_OUTCOME_")
        if outcome not in ("MERGE", "DROP"):
            raise Refused("GUEST_INVALID")
        self.absorbed[guest.user] = outcome.lower()
        guest.ended = "SESSION_REVOKED"
        return {}

    def _CreateChallenge(self, headers, request):
        return {"nonce": "n" * 43, "expiresInSeconds": 300}

    def _RefreshSession(self, headers, request):
        session, number = self._refresh(request.get("refreshToken", ""), None)
        return {"tokens": self._tokens_value(session, number), "missingFields": []}

    def _SignOut(self, headers, request):
        token = Token.read(request.get("refreshToken", ""))
        if token and token.session in self.sessions:
            session = self.sessions[token.session]
            session.ended = session.ended or "SESSION_REVOKED"
        return {}

    def _SignOutEverywhere(self, headers, request):
        session = self.caller(headers)
        for each in self.sessions.values():
            if each.user == session.user and not (request.get("exceptCurrent") and each is session):
                each.ended = each.ended or "SESSION_REVOKED"
        return {}

    def _GetMe(self, headers, request):
        session = self.caller(headers)
        return {"profile": {"userId": session.user, "missingFields": ["display_name"], "aFieldOfTomorrow": {"deep": [1]}}}

    def _DeleteMe(self, headers, request):
        session = self.caller(headers)
        for each in self.sessions.values():
            if each.user == session.user:
                each.ended = each.ended or "SESSION_REVOKED"
        return {"consentsLeft": ["apple"]}

    def _CreateGroup(self, headers, request):
        session = self.caller(headers)
        if not request.get("name"):
            refused = Refused("GROUP_NAME_INVALID")
            refused.fields = {"name": "GROUP_NAME_INVALID"}
            raise refused
        key = request.get("idempotencyKey") or str(uuid.uuid4())
        if key not in self.groups:
            self.groups_created += 1
            self.groups[key] = {"groupId": str(uuid.uuid4()), "name": request["name"], "ownerUserId": session.user,
                                "createdAt": "2026-11-27T22:16:53.453Z", "openness": "GROUP_OPENNESS_OF_TOMORROW",
                                "role": "GROUP_ROLE_OWNER"}
        return {"group": self.groups[key]}

    def _ListGroups(self, headers, request):
        self.caller(headers)
        return {"groups": list(self.groups.values())}

    def _avatar(self, verb, headers, body):
        session = self.caller(headers)
        if verb == "DELETE":
            self.avatars.pop(session.user, None)
        elif not body.startswith(b"\x89PNG"):
            problem = {"type": "about:blank", "title": "Error", "status": 422, "detail": "The picture must be a PNG.",
                       "code": "AVATAR_INVALID", "fields": [{"field": "image", "code": "AVATAR_INVALID", "detail": "No picture."}]}
            answer = json_answer(problem, 422)
            answer.headers["content-type"] = "application/problem+json"
            return answer
        else:
            self.avatars[session.user] = body
        return json_answer({"user_id": session.user, "avatar_url": "/avatars/1" if body else None})

    # OpenID Connect

    def authorize(self, url, person="hosted", issuer=None, state=None, error=None):
        """Signs a person in at the hosted page, and returns the address that the browser is sent to."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256", query
        assert "openid" in query["scope"].split() and "offline_access" in query["scope"].split(), query
        code = f"code-{len(self.codes) + 1}"
        self.codes[code] = query | {"person": person}
        back = {"code": code} if error is None else {"error": error}
        back |= {"state": state or query["state"], "iss": issuer or self.issuer}
        return f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}"

    def _issue(self, form):
        if form.get("grant_type") == "refresh_token":
            try:
                session, number = self._refresh(form.get("refresh_token", ""), form.get("client_id"))
            except Refused:
                return self._oauth_error("invalid_grant")
            return self._issued(session, number, None)
        asked = self.codes.pop(form.get("code"), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (asked is None or asked["code_challenge"] != self._base64url(digest)
                or asked["client_id"] != form.get("client_id") or asked["redirect_uri"] != form.get("redirect_uri")):
            return self._oauth_error("invalid_grant")
        return self._issued(self.open_session(asked["person"], asked["client_id"]), 0, asked.get("nonce"))

    def _issued(self, session, number, nonce):
        access, refresh = self._tokens(session, number)
        claims = {"iss": self.issuer, "aud": session.client_id, "sub": session.user, "sid": session_id(session.number)}
        if nonce is not None:
            claims["nonce"] = nonce
        identity = ".".join(self._base64url(json.dumps(each).encode()) for each in ({"alg": "ES256"}, claims)) + ".c2lnbmF0dXJl"
        return json_answer({"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "id_token": identity,
                            "expires_in": self.access_token_seconds, "scope": "openid offline_access"})

    def _revoke(self, form):
        token = Token.read(form.get("token", ""))
        session = self.sessions.get(token.session) if token else None
        if session is not None and session.client_id == form.get("client_id"):
            session.ended = session.ended or "SESSION_REVOKED"
        return Answer(200, b"", {"cache-control": "no-store"})

    @staticmethod
    def _oauth_error(code):
        return json_answer({"error": code, "error_description": "The grant is not valid."}, 400)

    @staticmethod
    def _base64url(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    # Streams

    def stream_error(self, headers):
        """The error that a stream of events ends with now, or None."""
        self._arrived = self.now()
        try:
            self.caller(headers)
        except Refused as refused:
            return error_value(STATUS.get(refused.code, 401), refused.code)
        return None
