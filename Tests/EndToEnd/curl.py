"""curl as a client: the answers that it gets, and over which version of HTTP."""

import dataclasses
import json
import subprocess


@dataclasses.dataclass
class Answer:
    status: int
    version: str
    headers: dict
    content: str

    @property
    def json(self):
        return json.loads(self.content)


def ask(url, *options, authority=None):
    """Makes one request. Returns the header fields by their lowercase names, each with all its values."""
    trust = ["--cacert", str(authority)] if authority else []
    marker = "\n--curl--\n"
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "15", *trust, "--write-out",
         f"{marker}%{{http_code}} %{{http_version}} %{{header_json}}", *map(str, options), url],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
    if done.returncode != 0:
        raise OSError(f"curl ended with {done.returncode}: {done.stderr}")
    content, told = done.stdout.rsplit(marker, 1)
    status, version, headers = told.split(" ", 2)
    return Answer(int(status), version, json.loads(headers), content)
