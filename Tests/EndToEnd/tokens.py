"""JSON Web Tokens by OpenSSL's command line: an implementation that shares no code with ours."""

import base64
import json
import pathlib
import subprocess
import tempfile

# SubjectPublicKeyInfo of a P-256 key up to the point (RFC 5480 section 2), which follows as 04, x and y.
P256_PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")


def decode(text):
    """Strict base64url without padding (RFC 7515 section 2)."""
    assert "=" not in text
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def encode(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def parts(token):
    """Header and claims, unverified."""
    header, claims, _ = token.split(".")
    return json.loads(decode(header)), json.loads(decode(claims))


def verify(token, key_set):
    """The header and claims of a token that a key of the set has signed; fails otherwise."""
    header, claims = parts(token)
    keys = [key for key in key_set["keys"] if key["kid"] == header["kid"]]
    assert len(keys) == 1, (header, key_set)
    assert header["alg"] == "ES256" == keys[0].get("alg", "ES256")
    signed, _, signature = token.rpartition(".")
    assert _openssl_verifies(keys[0], signed.encode(), decode(signature)), "the signature does not verify"
    return header, claims


def sign(header, claims, pem):
    """A token signed with the P-256 key of a PEM text."""
    signed = f"{encode(json.dumps(header).encode())}.{encode(json.dumps(claims).encode())}"
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as key_file:
        key_file.write(pem)
        key_file.flush()
        signature = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", key_file.name], input=signed.encode(), capture_output=True, check=True)
    return f"{signed}.{encode(_raw_from_der(signature.stdout))}"


def own_key(stack, kind):
    """The text of a stack's own key that makes tokens now."""
    keys = json.loads((stack.folder / f"secrets/keys/{kind}.json").read_text())["keys"]
    current, = [key["key"] for key in keys if key["state"] == "current"]
    return current


def _openssl_verifies(key, signed, signature):
    assert (key["kty"], key["crv"]) == ("EC", "P-256") and len(signature) == 64
    point = b"\x04" + decode(key["x"]) + decode(key["y"])
    with tempfile.TemporaryDirectory() as folder:
        public, raw = pathlib.Path(folder, "key.der"), pathlib.Path(folder, "signature")
        public.write_bytes(P256_PREFIX + point)
        raw.write_bytes(_der_from_raw(signature))
        result = subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", str(public), "-keyform", "DER", "-signature", str(raw)],
            input=signed, capture_output=True)
    assert b"Verif" in result.stdout, result.stderr
    return result.returncode == 0


def _der_from_raw(signature):
    """JWS writes r and s side by side (RFC 7518 section 3.4), OpenSSL as a DER sequence."""
    integers = b"".join(_der_integer(signature[start:start + 32]) for start in (0, 32))
    return bytes([0x30, len(integers)]) + integers


def _der_integer(number):
    number = number.lstrip(b"\0")
    if not number or number[0] & 0x80:
        number = b"\0" + number
    return bytes([2, len(number)]) + number


def _raw_from_der(der):
    assert der[0] == 0x30 and der[1] == len(der) - 2
    raw, rest = b"", der[2:]
    while rest:
        assert rest[0] == 2
        raw += rest[2:2 + rest[1]].lstrip(b"\0").rjust(32, b"\0")
        rest = rest[2 + rest[1]:]
    assert len(raw) == 64
    return raw
