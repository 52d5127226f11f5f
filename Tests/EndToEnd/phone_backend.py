"""The app's own backend, which says whose a phone number is: signs assertions with a key of its own."""

import json
import secrets
import subprocess
import time

import tokens

ISSUER = "https://backend.example.com"
AUDIENCE = "vestibule-phones"


class PhoneBackend:
    """A backend whose public key stands in a file for identity."""

    def __init__(self, path=None):
        self.pem = subprocess.run(
            ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"], capture_output=True, text=True, check=True).stdout
        public = subprocess.run(
            ["openssl", "ec", "-pubout", "-outform", "DER"], input=self.pem.encode(), capture_output=True, check=True).stdout
        assert public.startswith(tokens.P256_PREFIX)
        point = public[len(tokens.P256_PREFIX):]
        self.key = {
            "kty": "EC", "crv": "P-256", "kid": "backend-1", "alg": "ES256", "use": "sig", "x": tokens.encode(point[1:33]),
            "y": tokens.encode(point[33:])}
        if path is not None:
            path.write_text(json.dumps({"issuer": ISSUER, "audience": AUDIENCE, "keys": [self.key]}))

    def assertion(self, user_id, phone, **changes):
        """Says that a number is a user's. A claim that is changed to None is left out."""
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": AUDIENCE, "sub": user_id, "phone_number": phone, "jti": secrets.token_hex(16), "iat": now,
            "exp": now + 300} | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        return tokens.sign({"alg": "ES256", "kid": self.key["kid"], "typ": "JWT"}, claims, self.pem)
