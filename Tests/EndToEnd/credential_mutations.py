"""Seeded changes of the JSON text of a credential: of its characters, of its members, and of the bytes in them."""

import base64
import json

# What a character is replaced by: letters of base64url, JSON's own signs, and what should be in no text.
SIGNS = "AZaz09-_=+/ \"\\{}[]:,.\n\0\u00e9\u212a\U0001f511"
VALUES = (None, True, 0, -1, 1.5, "", "A", "=", "public-key", [], {}, "A" * 70_000)


def mutated(chance, text, other):
    """The text changed in one place by the random generator `chance`; never the same, nor `other`, another good text of the kind."""
    while True:
        changed = chance.choice(CHANGES)(chance, text, other)
        if changed not in (text, other):
            return changed


def essence(text):
    """What a server judges of a text: its ids, its type and the bytes of its response; None for what is no credential at all."""
    try:
        credential = json.loads(text)
        response = credential["response"]
        return (
            frozenset(bytes_or_other(credential[name]) for name in ("id", "rawId") if name in credential), repr(credential["type"]),
            *(bytes_or_other(response.get(name))
              for name in ("clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle")))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def bytes_or_other(value):
    """The bytes of a member; something else is what it is."""
    try:
        return decoded(value)
    except (ValueError, TypeError):
        return repr(value)


def decoded(word):
    return base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


# Of the text

def replace(chance, text, _):
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(SIGNS) + text[place + 1:]


def cut(chance, text, _):
    start, end = span(chance, text)
    return text[:start] + text[end:]


def repeat(chance, text, _):
    start, end = span(chance, text)
    return text[:end] + text[start:end] + text[end:]


def end_early(chance, text, _):
    return text[:chance.randrange(1, len(text))]


def splice(chance, text, other):
    place = chance.randrange(1, min(len(text), len(other)))
    return text[:place] + other[place:]


def span(chance, content):
    start = chance.randrange(len(content))
    return start, min(len(content), start + chance.choice((1, 2, 8, 64)))


# Of the members

def place_of(chance, credential):
    """An object of the credential and the name of one of its members."""
    holder = chance.choice((credential, credential["response"], credential["response"]))
    return holder, chance.choice(sorted(holder))


def leave_out(chance, text, _):
    credential = json.loads(text)
    holder, name = place_of(chance, credential)
    del holder[name]
    return json.dumps(credential)


def set_value(chance, text, _):
    credential = json.loads(text)
    holder, name = place_of(chance, credential)
    holder[name] = chance.choice(VALUES)
    return json.dumps(credential)


def exchange(chance, text, other):
    """A member of the other credential."""
    credential, foreign = json.loads(text), json.loads(other)
    holder, name = place_of(chance, credential)
    origin = foreign if holder is credential else foreign["response"]
    holder[name] = origin.get(name)
    return json.dumps(credential)


# Of the bytes

def change_bytes(chance, text, _):
    """A bit of a member flipped, some of its bytes left out, or some repeated."""
    credential = json.loads(text)
    response = credential["response"]
    name = chance.choice(sorted(name for name in response if isinstance(response[name], str)))
    content = bytearray(decoded(response[name]))
    start, end = span(chance, content)
    way = chance.randrange(4)
    if way < 2:
        content[start] ^= 1 << chance.randrange(8)
    elif way == 2:
        del content[start:end]
    else:
        content[end:end] = content[start:end]
    response[name] = encoded(content)
    return json.dumps(credential)


CHANGES = (replace, cut, repeat, end_early, splice, leave_out, set_value, exchange, change_bytes, change_bytes, change_bytes)
