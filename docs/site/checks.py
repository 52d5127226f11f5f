"""Checks of the built site: a page loads nothing from elsewhere. Links that a reader follows may lead anywhere."""

import html.parser
import re

#: By element, the attributes that load something.
_LOADS = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src", "poster"),
    "audio": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",), "use": ("href", "xlink:href"), "image": ("href",)}
#: Relations of `link` that only name an address.
_NAMES = {"canonical", "prev", "next", "alternate", "author", "license"}
_OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
_STYLE = re.compile(r"url\(\s*['\"]?\s*(?:https?:)?//|@import\s+['\"]\s*(?:https?:)?//", re.IGNORECASE)


class _Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attributes = {name: value or "" for name, value in attrs}
        names = _LOADS.get(tag, ())
        if tag == "link" and not set(attributes.get("rel", "").split()) <= _NAMES:
            names = ("href",)
        for name in names:
            if _OUTSIDE.match(attributes.get(name, "")):
                self.found.append(f"<{tag}> loads {attributes[name]}")
        if _STYLE.search(attributes.get("style", "")):
            self.found.append(f"<{tag}> has a style that loads from elsewhere")


def outside_requests(site):
    """What pages and styles of a folder would load from elsewhere, as lines."""
    faults = []
    for path in sorted(site.rglob("*.html")):
        page = _Page()
        page.feed(path.read_text())
        faults += [f"{path.relative_to(site)}: {found}" for found in page.found]
    for path in sorted(site.rglob("*.css")):
        if _STYLE.search(path.read_text()):
            faults.append(f"{path.relative_to(site)} loads from elsewhere")
    return faults
