"""The Cognito demo's apps: one answer that Swift, Kotlin and TypeScript read, each in its way."""

import pathlib

from phone import BARE
from shapes import javascript_integer, kotlin_int, text

DECODER = pathlib.Path(__file__).parent / "CognitoDecoder.swift"
# data class AuthResponse(val id_token: String, val access_token: String, val refresh_token: String?, val expires_in: Int)
KOTLIN = {"id_token": str, "access_token": str, "refresh_token?": str, "expires_in": kotlin_int}
# interface AuthResponse { id_token: string; access_token: string; refresh_token?: string; expires_in: number }
TYPESCRIPT = {"id_token": text, "access_token": text, "refresh_token?": text, "expires_in": javascript_integer}


def apple_body(credential):
    """What each of the apps sends to `/auth/apple`; null where Apple told nothing."""
    return {
        "identity_token": credential.identity_token, "authorization_code": credential.authorization_code,
        "email": credential.email, "full_name": credential.full_name}


def google_body(answer, person=None):
    """What each of the apps sends to `/auth/google`."""
    return {
        "id_token": answer["id_token"], "email": person.email if person else None,
        "full_name": person.name if person else None}


class NativeApp:
    """The demo on a phone."""

    def __init__(self, phone, client_id=BARE):
        self.phone = phone
        self.client_id = client_id

    def post(self, provider, body):
        answer = self.phone.gateway.post(f"/auth/{provider}", body)
        if answer.status == 200:
            self.phone.keep_secret(*(answer.json[name] for name in ("id_token", "access_token", "refresh_token")))
        return answer

    def sign_in_with_apple(self):
        return self.post("apple", apple_body(self.phone.apple(self.client_id)))
