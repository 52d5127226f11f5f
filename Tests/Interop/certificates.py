"""Certificates that live for a day, made with the openssl program."""

import pathlib
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    certificate: pathlib.Path
    key: pathlib.Path


class Authority:
    """Signs certificates of servers and clients; peers that trust it need its `certificate`."""

    def __init__(self, folder, name):
        self._folder = folder
        self._name = name
        self.certificate = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.certificate)

    def issue(self, name, alternative_names):
        """A certificate for `alternative_names`, such as "DNS:localhost"."""
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        issued = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        extensions.write_text(
            f"subjectAltName={','.join(alternative_names)}\nextendedKeyUsage=serverAuth,clientAuth\n")
        _openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", issued.key, "-out", request)
        _openssl(
            "x509", "-req", "-days", "1", "-in", request, "-CA", self.certificate, "-CAkey", self._key,
            "-CAcreateserial", "-extfile", extensions, "-out", issued.certificate)
        return issued


def _openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr}")
