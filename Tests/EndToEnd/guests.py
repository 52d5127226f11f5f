"""The work that a new guest costs, and guests."""

import hashlib
import itertools


def solution(challenge, bits):
    """The challenge with digits behind it whose SHA-256 begins with so many zero bits."""
    for number in itertools.count():
        text = f"{challenge}.{number}"
        if int.from_bytes(hashlib.sha256(text.encode()).digest()) >> (256 - bits) == 0:
            return text


def solved(gateway):
    """A proof of work that was not used."""
    made = gateway.post("/auth/guest/challenge").expect(200)
    assert set(made) == {"challenge", "work_bits", "expires_in"} and 0 < made["expires_in"] <= 300
    return solution(made["challenge"], made["work_bits"])


def new_guest(stack, **members):
    """The session of a new guest."""
    gateway = stack.client()
    session = gateway.post("/auth/guest", {"proof_of_work": solved(gateway)} | members).expect(200)
    stack.confidential |= {session["access_token"], session["refresh_token"]}
    return session
