"""What takes longer than a test can wait: tokens that are older than they are, sessions and codes from before."""

import hmac
import json
import time

import tokens

# What turns identity's refresh key into the key of the single tokens.
SINGLE_TOKEN_LABEL = b"vestibule single token 1"


def access_token_that_ends(stack, token, seconds):
    """An access token as it would be if it ended so many seconds from now (before now: negative)."""
    header, claims = tokens.parts(token)
    lifetime = claims["exp"] - claims["iat"]
    end = int(time.time()) + seconds
    aged = tokens.sign(header, claims | {"iat": end - lifetime, "exp": end}, tokens.own_key(stack, "signing"))
    stack.confidential.add(aged)
    return aged


def single_token_that_ends(stack, token, seconds):
    """A single token as it would be if it ended so many seconds from now (before now: negative)."""
    claims = tokens.parts(token)[1]
    lifetime = claims["exp"] - claims["iat"]
    end = int(time.time()) + seconds
    key = hmac.digest(tokens.decode(tokens.own_key(stack, "refresh")), SINGLE_TOKEN_LABEL, "sha256")
    # The header as it is: it is one fixed text.
    signed = f"{token.split('.')[0]}.{tokens.encode(json.dumps(claims | {'iat': end - lifetime, 'exp': end}).encode())}"
    aged = f"{signed}.{tokens.encode(hmac.digest(key, signed.encode(), 'sha256'))}"
    stack.confidential.add(aged)
    return aged


def session_unused_for(stack, session_id, days):
    """A session that was used last so many days ago."""
    stack.sql(f"""
        UPDATE identity.sessions
        SET created_at = created_at - interval '{days} days', last_used_at = last_used_at - interval '{days} days',
            rotated_at = rotated_at - interval '{days} days'
        WHERE session_id = '{session_id}';""")


def credentials_older_by_two_minutes(stack):
    """All that was presented so far was presented two minutes earlier: no retry of a lost answer any more."""
    stack.sql("""
        UPDATE identity.sign_ins SET created_at = created_at - interval '2 minutes';
        UPDATE identity.code_exchanges SET exchanged_at = exchanged_at - interval '2 minutes';""")
