"""Every reason to reject a sign-in, each provoked once as by an app, and the response."""

import pytest

from elapsed import credentials_older_by_two_minutes
from phone import APP, BARE, DEBUG, FACEBOOK, GOOGLE_IOS, GOOGLE_WEB, SERVICES, Phone
from process_table import wait_until
from simulated import Simulated


class Attempt:
    """Somebody on a phone, and the request that is refused."""

    def __init__(self, phone):
        self.phone = phone

    def post(self, path, **body):
        return self.phone.gateway.post(path, body)

    def apple(self, **body):
        return self.post("/auth/apple", **body)

    # A method for each reason.

    def code_required(self):
        return self.apple(identity_token=self.phone.apple(DEBUG).identity_token)

    def code_spent(self):
        body = {"authorization_code": self.phone.apple(DEBUG).authorization_code, "client_id": DEBUG}
        self.apple(**body).expect(200)
        credentials_older_by_two_minutes(self.phone.stack)
        return self.apple(**body)

    def code_foreign(self):
        other = Phone(self.phone.stack).apple(DEBUG)
        return self.apple(
            identity_token=self.phone.apple(DEBUG, omit=["c_hash"]).identity_token,
            authorization_code=other.authorization_code)

    def token_code_hash(self):
        return self.apple(
            identity_token=self.phone.apple(DEBUG).identity_token,
            authorization_code=Phone(self.phone.stack).apple(DEBUG).authorization_code)

    def token_stale(self):
        return self.apple(identity_token=self.phone.apple(BARE, issued_in=-900).identity_token)

    def token_replayed(self):
        token = self.phone.apple(BARE).identity_token
        self.apple(identity_token=token).expect(200)
        credentials_older_by_two_minutes(self.phone.stack)
        return self.apple(identity_token=token)

    def token_nonce_missing(self):
        return self.apple(identity_token=self.phone.apple(APP).identity_token)

    def token_subject(self):
        credential, raw = self.phone.apple_with_nonce()
        other = Phone(self.phone.stack).apple(APP)
        return self.post(
            "/api/auth/apple", identity_token=credential.identity_token, nonce=raw, userIdentifier=other.user)

    def access_token_foreign(self):
        token = self.phone.google("evil.apps.googleusercontent.com")["access_token"]
        return self.post("/auth/google", access_token=token, client_id=GOOGLE_IOS)

    def provider_token_invalid(self):
        return self.post("/auth/facebook", access_token="no-token", client_id=FACEBOOK)

    def ticket_invalid(self):
        return self.apple(identity_token="vit1_" + "A" * 43, authorization_code="vct1_" + "A" * 43)

    def client_unknown(self):
        return self.apple(authorization_code="code", client_id="com.example.other")

    def account_not_found(self):
        return self.apple(identity_token=self.phone.apple(BARE).identity_token, create=False)

    def exchange_not_configured(self):
        return self.post("/auth/facebook", authorization_code="code", client_id=FACEBOOK)

    def provider_unknown(self):
        return self.post("/auth/keycloak", id_token="x.y.z")

    def provider_unavailable(self):
        body = {"authorization_code": self.phone.apple(DEBUG).authorization_code, "client_id": DEBUG}
        with Simulated(self.phone.stack, "apple").misbehaving("token", "error", status=503):
            return self.apple(**body)

    # Only a dialect asks for what these are about, and tells it in its own words.

    def invalid_token(self):
        """PROOF_REQUIRED."""
        return self.post("/wp-json/gread/v1/auth/apple/login", appleUserID=self.phone.apple(BARE).user)

    def email_exists(self):
        """EMAIL_TAKEN."""
        other = Phone(self.phone.stack)
        for phone in (other, self.phone):
            credential = phone.apple(BARE)
            answer = self.post(
                "/wp-json/gread/v1/auth/apple/register", appleUserID=credential.user,
                identityToken=credential.identity_token, email=other.person.email,
                username=phone.person.email.partition("@")[0])
        return answer

    # A browser is shown a page instead of a problem.

    def web_state_invalid(self):
        credential = self.phone.apple(SERVICES)
        return self.phone.gateway.send(
            "POST", "/auth/apple/callback", headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=f"id_token={credential.identity_token}&code={credential.authorization_code}&state=of-nobody".encode())


REASONS = {
    "CODE_REQUIRED": 401, "CODE_SPENT": 401, "CODE_FOREIGN": 401, "TOKEN_CODE_HASH": 401, "TOKEN_STALE": 401,
    "TOKEN_REPLAYED": 401, "TOKEN_NONCE_MISSING": 401, "TOKEN_SUBJECT": 401, "ACCESS_TOKEN_FOREIGN": 401,
    "PROVIDER_TOKEN_INVALID": 401, "TICKET_INVALID": 401, "CLIENT_UNKNOWN": 422, "ACCOUNT_NOT_FOUND": 404,
    "EXCHANGE_NOT_CONFIGURED": 422, "PROVIDER_UNKNOWN": 404, "PROVIDER_UNAVAILABLE": 503, "invalid_token": 401,
    "email_exists": 409, "WEB_STATE_INVALID": 400,
}


@pytest.mark.parametrize("reason", REASONS)
def test_reason(phone, stack, reason):
    attempt = Attempt(phone)
    answer = getattr(attempt, reason.lower())()
    assert answer.status == REASONS[reason], answer.content
    if reason == "WEB_STATE_INVALID":
        assert answer.headers["Content-Type"].startswith("text/html") and b"vit1_" not in answer.content
        wait_until(lambda: "WEB_STATE_INVALID" in stack.logs()["gateway.log"], 10, "the line that tells the reason")
    else:
        body = answer.json
        # Our own routes say `code`, as WordPress does; the drivers' app has `error`.
        assert body.get("error" if "success" in body else "code") == reason
    # A rejected user can sign in afterwards, and gets their own account.
    credential, raw = phone.apple_with_nonce()
    answer = attempt.apple(identity_token=credential.identity_token, nonce=raw).expect(200)
    phone.keep_secret(answer["access_token"], answer["refresh_token"], answer["id_token"])
    assert answer["is_new_user"] is (reason not in ("CODE_SPENT", "TOKEN_REPLAYED"))


def test_google_for_another_of_our_apps(phone):
    """Each client id has the rules of its own kind of app; a token is judged by those of its own."""
    token = phone.google(GOOGLE_IOS, sdk="ios")["id_token"]
    answer = phone.gateway.post("/auth/google", {"id_token": token, "client_id": GOOGLE_WEB})
    assert answer.status in (401, 422), answer.content
    phone.gateway.post("/auth/google", {"id_token": token}).expect(200)
