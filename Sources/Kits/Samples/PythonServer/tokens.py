"""Who calls: access tokens of a Vestibule server, verified by its keys."""

# cut: verify
import http.client
import json
import threading
import time
import urllib.request

import jwt

SECONDS = 5


class KeySet:
    """The server's public keys. They are fetched again when they are five minutes old, and for a token that names a key which isn't
    there: one request at a time, and at most one in ten seconds, also if it fails. Until it succeeds, the keys that there are are good."""

    def __init__(self, url):
        self._url, self._keys, self._tried, self._fetched = url, {}, float("-inf"), float("-inf")
        self._lock = threading.Lock()

    def key(self, key_id):
        """The key, or None. Raises OSError if it isn't there and the server can't be reached."""
        begun, is_known = time.monotonic(), key_id in self._keys
        is_due = begun - self._tried > 10 and (not is_known or begun - self._fetched > 300)
        # A request whose key is there doesn't wait for another one that fetches.
        if is_due and self._lock.acquire(blocking=not is_known):
            try:
                # Not if another one has just done so.
                if self._tried < begun:
                    self._fetch()
            finally:
                self._lock.release()
        if key_id not in self._keys and self._fetched < self._tried:
            raise OSError("the server's keys can't be had")
        return self._keys.get(key_id)

    def _fetch(self):
        try:
            with urllib.request.urlopen(self._url, timeout=SECONDS) as answer:
                keys = jwt.PyJWKSet.from_dict(json.load(answer)).keys
        except (OSError, ValueError, jwt.PyJWTError, http.client.HTTPException):
            # No answer, or a page of something on the way.
            self._tried = time.monotonic()
        else:
            self._keys = {key.key_id: key for key in keys}
            self._fetched = self._tried = time.monotonic()


class TokenVerifier:
    """Verifies access tokens without a request for each."""

    def __init__(self, issuer, audience="vestibule"):
        self._issuer, self._audience = issuer, audience
        self._keys = KeySet(f"{issuer}/.well-known/jwks.json")

    def claims(self, token):
        """What the token says: `sub` is the user's id. Raises jwt.InvalidTokenError, or OSError if its key isn't known
        and the server can't be reached."""
        header = jwt.get_unverified_header(token)
        # An ID token is no access token (RFC 9068 section 4).
        if header.get("typ") != "at+jwt":
            raise jwt.InvalidTokenError("not an access token")
        key = self._keys.key(header.get("kid"))
        if key is None:
            raise jwt.InvalidTokenError("signed with an unknown key")
        return jwt.decode(token, key, algorithms=["ES256"], audience=self._audience, issuer=self._issuer,
                          options={"require": ["iss", "sub", "aud", "exp"]})
# cut end
