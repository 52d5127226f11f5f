"""Who calls: access tokens of a Vestibule server, by asking it."""

# cut: introspect
import base64
import http.client
import json
import urllib.parse
import urllib.request

SECONDS = 5


class Introspection:
    """Asks the server about a token (RFC 7662), which also knows whether the session has ended."""

    def __init__(self, issuer, client_id, secret):
        self._url = f"{issuer}/auth/introspect"
        self._authorization = "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()

    def claims(self, token):
        """What the server says of an active access token, or None. Raises OSError if it can't be reached, also if something on the way
        answers in its place."""
        request = urllib.request.Request(
            self._url, urllib.parse.urlencode({"token": token}).encode(), {"Authorization": self._authorization})
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                claims = json.load(answer)
        except (ValueError, http.client.HTTPException) as error:
            raise OSError("not an answer of the server") from error
        # A refresh token is active too, and authorizes nothing.
        return claims if claims["active"] and claims["token_use"] == "access_token" else None
# cut end
