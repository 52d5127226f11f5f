"""An app whose session is bound to a key: its requests have proofs of possession (DPoP, RFC 9449)."""

import base64
import hashlib
import time
import uuid

import joserfc.jwk
import joserfc.jwt

from app import App
from http_client import Client


class ProofKey:
    """The key of a client, in software."""

    def __init__(self):
        self._key = joserfc.jwk.ECKey.generate_key("P-256")

    @property
    def thumbprint(self):
        """`jkt`, as joserfc computes it (RFC 7638)."""
        return self._key.thumbprint()

    def proof(self, method, url, nonce=None, token=None, header=None, **claims):
        """A proof. `header` and further claims replace what is right."""
        right = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": int(time.time())}
        if nonce is not None:
            right["nonce"] = nonce
        if token is not None:
            right["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).decode().rstrip("=")
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self._key.as_dict(private=False)} | (header or {})
        present = {name: value for name, value in (right | claims).items() if value is not None}
        return joserfc.jwt.encode(head, present, self._key, registry=joserfc.jws.JWSRegistry(strict_check_header=False))


class ProvingClient(Client):
    """Sends requests with proofs. It goes on with the nonce of the last answer, and sends once more what lacked one, as RFC 9449 section 8 has
    clients do."""

    def __init__(self, client, key=None):
        super().__init__(client.address, client.source, client._context)
        self.key = key or ProofKey()
        self.nonce = None
        # How often a nonce was missing.
        self.retries = 0

    @property
    def base(self):
        return f"http://{self.address}"

    def send(self, method, path, json_body=None, token=None, headers=None, **how):
        for _ in range(2):
            proof = self.key.proof(method, self.base + path.split("?")[0], self.nonce, token)
            answer = self.send_proof(method, path, proof, json_body, token, headers, **how)
            if answer.headers.get("DPoP-Nonce") is None or not self._lacks_nonce(answer):
                return answer
            self.retries += 1
        return answer

    def send_proof(self, method, path, proof, json_body=None, token=None, headers=None, **how):
        """One request with a given proof, or with several."""
        sent = dict(headers or {})
        if proof is not None:
            sent["DPoP"] = proof
        if token is not None:
            sent["Authorization"] = f"DPoP {token}"
        answer = super().send(method, path, json_body, headers=sent, **how)
        self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
        return answer

    @staticmethod
    def _lacks_nonce(answer):
        return answer.status in (400, 401) and b"use_dpop_nonce" in answer.content + answer.headers.get("WWW-Authenticate", "").encode()


class BoundApp(App):
    """An app that binds its sessions to a key."""

    def __init__(self, stack, person=None, key=None):
        super().__init__(stack, person)
        self.gateway = ProvingClient(self.gateway, key)

    @property
    def key(self):
        return self.gateway.key

    @property
    def bearer(self):
        """A client that has no key: a thief of the tokens, or a program that knows nothing of proofs."""
        return Client(self.gateway.address, self.gateway.source)

    def proof(self, method, path, token=None, **claims):
        return self.key.proof(method, self.gateway.base + path, self.gateway.nonce, token or self.access_token, **claims)

    def send_proof(self, method, path, proof, json_body=None, token=None):
        return self.gateway.send_proof(method, path, proof, json_body, token or self.access_token)
