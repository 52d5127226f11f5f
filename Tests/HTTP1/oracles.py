"""oracles.py PROGRAM [CONNECTIONS [SEED]]: how requests.c, which is PROGRAM, reads connections of HTTP/1.x, against h11 and
httptools, which is llhttp. Each request that ours takes at least one of them takes as well, with the same method, target and
body and the same last byte; one that both take is the same to all three. Requests that were not spoiled are taken."""

import concurrent.futures
import json
import os
import re
import secrets
import subprocess
import sys
import urllib.parse

import h11
import httptools

import generate

BATCH = 2000
WHOLE, MORE, REFUSED = "whole", "more", "refused"


class Parsed:
    """A request as httptools parses it."""

    def __init__(self):
        self.url, self.body, self.begun, self.is_whole = b"", b"", 0, False

    def on_message_begin(self):
        self.begun += 1

    def on_url(self, url):
        self.url += url

    def on_body(self, body):
        self.body += body

    def on_message_complete(self):
        self.is_whole = True


def read_by_llhttp(text):
    """Whether a text is one request, and its method, target and body."""
    parsed = Parsed()
    parser = httptools.HttpRequestParser(parsed)
    try:
        parser.feed_data(text)
    except httptools.HttpParserUpgrade:
        pass  # it is whole, and what follows would be another protocol
    except httptools.HttpParserError:
        if not parsed.is_whole:
            return REFUSED, None
    if not parsed.is_whole:
        return MORE, None
    if parsed.begun > 1:
        return MORE, None
    return WHOLE, (parser.get_method().decode(), parsed.url.decode("latin-1"), parsed.body)


def read_by_h11(text):
    """The same by h11, which says as well whether bytes are left."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    request, body = None, b""
    try:
        connection.receive_data(text)
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                return MORE, None
    except h11.RemoteProtocolError:
        return REFUSED, None
    if connection.trailing_data[0]:
        return MORE, None
    return WHOLE, (request.method.decode(), request.target.decode("latin-1"), body)


def in_origin_form(request):
    """With the target that is left of an absolute one."""
    method, target, body = request
    if target[:7].lower() == "http://" or target[:8].lower() == "https://":
        parts = urllib.parse.urlsplit(target)
        rest = target[target.index("://") + 3 + len(parts.netloc):]
        target = ("*" if method == "OPTIONS" else "/") if not rest else rest if rest[0] == "/" else "/" + rest
    return method, target, body


def judge(text, requests, meaning):
    """What is wrong with how ours reads a connection; None if nothing is."""
    begin = 0
    taken = [request for request in requests if request["fault"] == 0]
    for request in taken:
        ours = (request["method"], request["target"], bytes.fromhex(request["body"]))
        part = text[begin:request["end"]]
        begin = request["end"]
        # RFC 9112 section 2.2 has empty lines before a request ignored, which h11 refuses; llhttp refuses methods that it doesn't know.
        others = {"llhttp": read_by_llhttp(part), "h11": read_by_h11(re.sub(rb"^(\r\n)+", b"", part))}
        if all(state == REFUSED for state, _ in others.values()):
            return f"{part!r} is taken, and refused by both"
        if all(state != WHOLE for state, _ in others.values()):
            return f"{part!r} is whole to nobody else: {others}"
        for name, (state, other) in others.items():
            if state == WHOLE and in_origin_form(other) != ours:
                return f"{part!r} is {other} to {name} and not {ours}"
            if state == MORE:
                return f"{part!r} is not whole to {name}"
        if read_by_llhttp(part[:-1])[0] == WHOLE:
            return f"{part!r} ends earlier for llhttp"
    if meaning is None:
        return None
    told = [(request["method"], request["target"], bytes.fromhex(request["body"])) for request in taken]
    return None if told == meaning and len(requests) == len(taken) else f"it means {meaning}, and {requests} is reported"


def compare(program, cases):
    """Judges connections, which are triples of a name, a text, and a meaning or None. What is wrong with the first bad one."""
    given = b"".join(len(text).to_bytes(4, "little") + text for _, text, _ in cases)
    done = subprocess.run([program], input=given, capture_output=True, check=False)
    lines = done.stdout.splitlines()
    for (name, text, meaning), line in zip(cases, lines):
        fault = judge(text, json.loads(line), meaning)
        if fault is not None:
            return f"{name}: {text!r}\n{fault}"
    if done.returncode != 0 or len(lines) != len(cases):
        name, text, _ = cases[min(len(lines), len(cases) - 1)]
        return f"{name}: {text!r}\nthe program ended with {done.returncode}: {done.stderr.decode(errors='replace')}"
    return None


def compare_generated(program, seed, first, count):
    return compare(program, [
        (f"seed {seed}, connection {number}", *generate.generated(f"{seed}/{number}")) for number in range(first, first + count)])


def main(program, connections="5000", seed=None):
    seed, connections = seed or secrets.token_hex(4), int(connections)
    known = [(f"known shape {number}", text, None) for number, text in enumerate(generate.known())]
    faults = [compare(program, known)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(compare_generated, program, seed, first, min(BATCH, connections - first))
                   for first in range(0, connections, BATCH)]
        faults += [future.result() for future in waiting]
    faults = [fault for fault in faults if fault is not None]
    for fault in faults[:10]:
        print(f"FAIL {fault}")
    print(f"{len(known)} known shapes and {connections} generated connections from seed {seed}")
    print(f"{len(waiting) + 1 - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
