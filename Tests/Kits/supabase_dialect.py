"""The scripted server and the cases for supabase-auth, Supabase's own client for Python, as far as it can speak them."""

import json
import urllib.parse

from faults import Answer
from interpreter import World
from server import ScriptedServer

#: What the client's requests are among those of the kits.
METHODS = {
    "POST /auth/v1/token refresh_token": "AuthService/RefreshSession",
    "POST /auth/v1/token id_token": "AuthService/SignInWithProvider",
    "POST /auth/v1/logout": "AuthService/SignOut",
    "GET /auth/v1/user": "AccountService/GetMe",
}
#: docs/apps/supabase-dialect.md; all else keeps its status.
ERRORS = {
    "REFRESH_TOKEN_INVALID": (400, "refresh_token_not_found"), "REFRESH_TOKEN_REUSED": (400, "refresh_token_already_used"),
    "SESSION_REVOKED": (400, "refresh_token_not_found"), "SESSION_EXPIRED": (400, "session_expired"),
    "ACCESS_TOKEN_EXPIRED": (403, "bad_jwt"), "ACCESS_TOKEN_INVALID": (403, "bad_jwt"),
}
#: They are about the list of sign-outs, which it doesn't have.
NOT_SPOKEN = ("a portal doesn't confirm a sign-out", "eight sign-outs wait at most")
SPOKEN_CALLS = ("AccountService/GetMe",)
SPOKEN_OPS = ("open", "drop", "signIn", "signOut", "token", "refresh", "call", "state", "cancel")


class SupabaseServer(ScriptedServer):
    """The scripted server, which speaks Supabase Auth's dialect."""

    def translate(self, request):
        name, _, query = request.method.partition("?")
        grant = dict(urllib.parse.parse_qsl(query)).get("grant_type", "")
        request.method = METHODS.get(f"{name} {grant}".strip(), request.method)
        body = request.value
        if request.method == "AuthService/RefreshSession":
            request.body = json.dumps({"refreshToken": body["refresh_token"]}).encode()
        elif request.method == "AuthService/SignInWithProvider":
            request.body = json.dumps({"idToken": body["id_token"], "nonce": body.get("nonce")}).encode()
        elif request.method == "AuthService/SignOut":
            access = request.headers.get("authorization", "").removeprefix("Bearer ")
            request.body = json.dumps({"refreshToken": ".".join(["rt", *access.split(".")[1:3]])}).encode()

    def translate_answer(self, request, answer):
        try:
            value = json.loads(answer.body)
        except ValueError:
            return answer
        if request.method not in METHODS.values() or not isinstance(value, dict):
            return answer
        if "details" in value:
            return self._error(value, answer.status)
        if "tokens" in value:
            tokens = value["tokens"]
            return self._answer_of({
                "access_token": tokens["accessToken"], "refresh_token": tokens["refreshToken"], "token_type": "bearer",
                "expires_in": tokens["expiresInSeconds"], "user": self._user(tokens["userId"])})
        if "profile" in value:
            return self._answer_of(self._user(value["profile"]["userId"]))
        return answer if value else Answer(204, b"") if request.method == "AuthService/SignOut" else answer

    @staticmethod
    def _answer_of(value, status=200):
        return Answer(status, json.dumps(value).encode(), {"content-type": "application/json"})

    def _error(self, value, status):
        reason = value["details"][0]["debug"]["reason"]
        status, code = ERRORS.get(reason, (status, reason.lower()))
        return self._answer_of({"code": status, "error_code": code, "msg": value["message"]}, status)

    @staticmethod
    def _user(user_id):
        return {"id": user_id, "aud": "authenticated", "app_metadata": {}, "user_metadata": {}, "created_at": "2026-11-27T22:16:53Z"}


class SupabaseWorld(World):
    """Runs a case by its rules alone: which code an error has, how often is tried and what is in the record may differ."""

    server_type = SupabaseServer

    async def _expect(self, step, answer):
        wanted = step.get("expect", {"ok": {}})
        state = wanted.get("ok", {}).get("state")
        lenient = {"ok": {"state": state} if state else {}} if "ok" in wanted else {"error": {}} if "error" in wanted else {}
        if step.get("op") == "signOut":
            # It reports an error of the server although the user is signed out here.
            lenient = {}
        await super()._expect({**step, "expect": lenient}, answer)

    async def _do_event(self, step):
        await super()._do_event({"event": {name: value for name, value in step["event"].items() if name != "code"}})

    async def _do_requests(self, step):
        # More than one are tries; it has fewer of them.
        await super()._do_requests({"requests": {name: count for name, count in step["requests"].items() if count <= 1}})

    async def _do_last(self, step):
        pass

    async def _do_record(self, step):
        if step["record"] is not None and "session" in step["record"]:
            session = step["record"]["session"]
            await super()._do_record({"record": {"session": session and {}}})


def is_spoken(case):
    """Whether the case needs nothing that the client doesn't have: the hosted page with our endpoints, a record by the server's address,
    other methods, events, a name from Apple, a list of sign-outs."""
    return case.get("name") not in NOT_SPOKEN and all(map(_is_spoken, case["steps"]))


def _is_spoken(step):
    if "eachByte" in step or "eachOperation" in step:
        return is_spoken(step)
    if "op" in step:
        return (step["op"] in SPOKEN_OPS and not {"url", "clientId"} & set(step) and step.get("method", SPOKEN_CALLS[0]) in SPOKEN_CALLS
                and "fullName" not in step.get("credentials", {}) and step.get("credentials", {}).get("idToken") != "blocked")
    return not {"same", "created", "kept", "damage", "addToRecord", "streams", "send", "last"} & set(step)
