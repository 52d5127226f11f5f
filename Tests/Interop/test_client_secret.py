"""Client secrets that identity mints are what a foreign library takes for JWTs of ES256 (PyJWT, on the package cryptography)."""

import os
import pathlib
import subprocess
import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

ISSUER = "https://appleid.apple.com"


def pem(key):
    """As Apple hands keys out: PKCS #8, unencrypted."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def minted(key, folder):
    path = folder / "key.p8"
    path.write_bytes(pem(key))
    # Beside the client: both are built together.
    program = pathlib.Path(os.environ["INTEROP_CLIENT"]).with_name("interop-client-secret")
    result = subprocess.run(
        [program, "--key", path, "--client-id", "com.example.app", "--team-id", "ABCDE12345", "--key-id", "KEY1234567"],
        capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_client_secret_verifies(tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    before = int(time.time())
    secret = minted(key, tmp_path)
    claims = jwt.decode(
        secret, key.public_key(), algorithms=["ES256"], audience=ISSUER, issuer="ABCDE12345",
        options={"require": ["iss", "sub", "aud", "iat", "exp"]})
    assert claims["sub"] == "com.example.app"
    assert before <= claims["iat"] <= time.time()
    assert claims["exp"] == claims["iat"] + 300
    assert set(claims) == {"iss", "sub", "aud", "iat", "exp"}
    header = jwt.get_unverified_header(secret)
    assert (header["alg"], header["kid"]) == ("ES256", "KEY1234567")


def test_client_secret_of_another_key_does_not_verify(tmp_path):
    secret = minted(ec.generate_private_key(ec.SECP256R1()), tmp_path)
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(secret, other, algorithms=["ES256"], audience=ISSUER)


def test_signatures_are_sixty_four_bytes_each_time(tmp_path):
    """DER would be shorter now and then: the two numbers lose their zeros."""
    key = ec.generate_private_key(ec.SECP256R1())
    for _ in range(20):
        signature = minted(key, tmp_path).rpartition(".")[2]
        assert len(jwt.utils.base64url_decode(signature)) == 64
