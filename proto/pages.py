#!/usr/bin/env python3
"""Writes what pages say of the protos. proto/generate.sh calls it; it needs Python 3.9.

    pages.py           writes the page of errors and the table of methods anew
    pages.py --check   changes nothing; prints what is not fresh, and fails if anything is
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROTOS = ROOT / "proto/vestibule/app/v1"
ROUTES = ROOT / "Sources/GatewayService"
ERROR_PAGE = ROOT / "docs/reference/error-codes.md"
METHOD_PAGE = ROOT / "docs/apps/one-port-every-client.md"
BEGIN = "<!-- Written by proto/pages.py -->\n"
END = "<!-- End of what proto/pages.py writes -->\n"

ERROR = re.compile(
    r"((?:  //[^\n]*\n)+)  ERROR_REASON_(\w+) = \d+\s*\[\(options\.v1\.http\) = (\d+)(?:, \(options\.v1\.grpc\) = \"(\w+)\")?, "
    r"\(options\.v1\.action\) = ERROR_ACTION_(\w+)\];")
SECTION = re.compile(r"  // -- ([^\n]*)\n")
SERVICE = re.compile(r"^service (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
METHOD = re.compile(r"((?:  //[^\n]*\n)+)  rpc (\w+)\(")
# The route of a method, in its options or, if it is written by hand, in Swift.
ROUTE = re.compile(r"  rpc (\w+)\([^)]*\) returns \([^)]*\) \{\n(?:(?!^  \}\n).)*?\b(get|put|post|patch|delete): \"([^\"]+)\"",
                   re.MULTILINE | re.DOTALL)
OPERATION = re.compile(r"Operation\(\s*\.(\w+),\s*\"([^\"]+)\",\s*id: \"(\w+)\"")

INTRODUCTION = """# Error codes

What went wrong, for programs, and what an app does about it.

## Overview

Routes answer errors as problems (RFC 9457) with a `code`, and with a code for each of `fields`. RPCs carry the same word as the
`reason` of `google.rpc.ErrorInfo`, whatever the protocol ([One port, every client](../apps/one-port-every-client.md)). The table below is made from
`proto/vestibule/app/v1/errors.proto`, and so are the enum of the OpenAPI document and `AppV1.errorCodes` in Swift.

| action | what an app does |
| --- | --- |
| refresh | It refreshes the session with the refresh token, one refresh at a time, and repeats the request once. `ACCESS_TOKEN_EXPIRED` and `ACCESS_TOKEN_INVALID` both mean this: a token becomes invalid before it expires when a key is taken out |
| sign_in_again | It has the user sign in. Where the session was refused (401), it forgets the tokens first |
| wait | It repeats the request after the seconds of `Retry-After`, or after one second |
| show | It shows `detail`: the user can change something, or has to know |
| fix_request | Nothing at run time: the same request fails each time, so the app or the configuration has to be mended |
| retry | It repeats the request a few times at most, with growing pauses |

An app treats a code that it doesn't know by the status: 401 as refresh, 429 and 503 as wait, other statuses below 500 as show, the
rest as retry. A dialect's errors have the dialect's own words.

"""


def sentence(comment):
    return " ".join(" ".join(line.strip().removeprefix("//") for line in comment.strip().split("\n")).split())


def error_page():
    text = (PROTOS / "errors.proto").read_text()
    page = INTRODUCTION
    parts = SECTION.split(text)[1:]
    for title, body in zip(parts[::2], parts[1::2]):
        page += f"## {title}\n\n| code | HTTP | gRPC | action | what happened |\n| --- | --- | --- | --- | --- |\n"
        for comment, name, http, grpc, action in ERROR.findall(body):
            page += f"| `{name}` | {http} | {grpc or '-'} | {action.lower()} | {sentence(comment)} |\n"
        page += "\n"
    return page.rstrip("\n") + "\n"


def method_table():
    routes = {}
    for path in sorted(ROUTES.rglob("*.swift")):
        for method, route, name in OPERATION.findall(path.read_text()):
            routes[name.lower()] = f"`{method.upper()} {route}`"
    for path in sorted(PROTOS.glob("*.proto")):
        for name, method, route in ROUTE.findall(path.read_text()):
            routes[name.lower()] = f"`{method.upper()} {route}`"
    table = "| service | method | route | what it does |\n| --- | --- | --- | --- |\n"
    for path in sorted(PROTOS.glob("*.proto")):
        for service, body in SERVICE.findall(path.read_text()):
            for comment, name in METHOD.findall(body):
                first = re.match(r".*?\.(?= [A-Z]|$)", sentence(comment))
                route = routes.get(name.lower(), "none")
                table += f"| `{service}` | `{name}` | {route} | {first.group(0) if first else sentence(comment)} |\n"
    return table


def method_page():
    before, rest = METHOD_PAGE.read_text().split(BEGIN)
    return before + BEGIN + "\n" + method_table() + "\n" + END + rest.split(END)[1]


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = False
    for path, text in ((ERROR_PAGE, error_page()), (METHOD_PAGE, method_page())):
        if path.exists() and path.read_text() == text:
            continue
        if arguments:
            stale = True
            print(f"{path.relative_to(ROOT)} is not what proto/pages.py writes", file=sys.stderr)
        else:
            path.write_text(text)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
