#!/usr/bin/env python3
"""Fails if a page of a site would make a request to another server when it is opened. Needs Python 3.9 alone.

    check_requests.py FOLDER

Looks at what HTML and SVG load (scripts, styles, fonts, pictures, frames), at url() and @import of styles, and at the addresses in
scripts. Links for readers to click may lead anywhere.
"""

import html.parser
import pathlib
import re
import sys

#: Attributes by which an element loads something. The link element is judged by its `rel`.
LOADING = {
    "src": None, "srcset": None, "poster": None, "background": None, "data": {"object"},
    "href": {"image", "use", "script", "feimage"}, "xlink:href": {"image", "use", "script", "feimage"},
}
#: Relations of the link element that load nothing.
LINKS = {"canonical", "alternate", "next", "prev", "author", "license", "help", "edit"}
OUTSIDE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
STYLE_URL = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')\s]*)", re.IGNORECASE)
SCRIPT_URL = re.compile(r"[\"'`](?:https?:)?//[\w.-]+\.\w[^\"'`\s]*", re.IGNORECASE)
#: Addresses in the theme's scripts, and the sign of a page that would make the script use one.
UNUSED = {
    "https://unpkg.com/mermaid": re.compile(r"class=\"[^\"]*\bmermaid\b"),
    "https://api.github.com/": re.compile(r"data-md-component=\"source\""),
    "https://gitlab.com/": re.compile(r"data-md-component=\"source\""),
    "https://unpkg.com/resize-observer-polyfill": None,  # For browsers from before 2020.
}
#: The pages as data, for the search.
DATA = {"search_index.js"}


class Loads(html.parser.HTMLParser):
    """Collects what a document loads from other servers."""

    def __init__(self):
        super().__init__()
        self.found = []
        self.inside = None

    def handle_starttag(self, tag, attributes):
        self.inside = tag if tag in ("style", "script") else None
        values = {name: value or "" for name, value in attributes}
        if tag == "link" and OUTSIDE.match(values.get("href", "")) and not set(values.get("rel", "").split()) & LINKS:
            self.found.append(values["href"])
        if tag == "meta" and "refresh" in values.get("http-equiv", "").lower() and "//" in values.get("content", ""):
            self.found.append(values["content"])
        for name, value in values.items():
            tags = LOADING.get(name, set())
            if tags is None or tag in tags:
                parts = value.split(",") if name == "srcset" else [value]
                self.found += [part.strip() for part in parts if OUTSIDE.match(part)]
            if name == "style":
                self.found += STYLE_URL.findall(value)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "style":
            self.found += STYLE_URL.findall(data)
        elif self.inside == "script":
            self.found += script_addresses(data)


def script_addresses(text):
    """Addresses in a script, but those of the theme that no page of the site makes it use."""
    addresses = (match.group()[1:] for match in SCRIPT_URL.finditer(text))
    return [address for address in addresses if not address.startswith(tuple(UNUSED))]


def faults(name, text):
    """What a file loads from other servers."""
    if name.endswith((".html", ".svg", ".xml")):
        document = Loads()
        document.feed(text)
        signs = {sign.pattern for sign in UNUSED.values() if sign and sign.search(text)} if name.endswith(".html") else ()
        return document.found + [f"an element that the theme's script loads something for: {sign}" for sign in sorted(signs)]
    if name.endswith(".css"):
        return STYLE_URL.findall(text)
    return script_addresses(text) if name.endswith(".js") and name not in DATA else []


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr if arguments[:1] not in (["-h"], ["--help"]) else sys.stdout)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    folder = pathlib.Path(arguments[0])
    pages = count = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".svg", ".css", ".js"):
            pages += path.suffix == ".html"
            for fault in faults(path.name, path.read_text(encoding="utf-8")):
                count += 1
                print(f"{path.relative_to(folder)}: a request to another server: {fault}")
    if pages == 0:
        print(f"{folder}: no page", file=sys.stderr)
        return 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
