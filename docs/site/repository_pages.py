"""A hook of mkdocs: the site has pages from outside of docs and parts that are made when it is built, and links to other files of the
repository become their paths."""

import os
import pathlib
import posixpath
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generated  # noqa: E402
import markdown_text  # noqa: E402
import program_help  # noqa: E402
import schema_pictures  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Pages of the repository and where the site has them.
PAGES = {
    "CHANGELOG.md": "project/changelog.md", "CONTRIBUTING.md": "project/contributing.md", "SECURITY.md": "project/security.md",
    "Sources/CRPC/README.md": "inside/c-layer.md", "Sources/ProviderSimulator/README.md": "inside/provider-simulator.md",
}
#: Folders of pages: DocC's of each module, and those that describe the tests.
GLOBS = (("Sources/*/*.docc/*.md", "modules/{name}"), ("Tests/README.md", "tests/index.md"), ("Tests/*/README.md", "tests/{folder}.md"))
#: Files beside this one, and where the site has them.
ASSETS = {"iframe-worker.js": "assets/javascripts/iframe-worker.js", "extra.css": "assets/stylesheets/extra.css"}

#: Code, whose parts are no links, or a link, or a link of DocC.
LINK = re.compile(
    r"^[ \t]*```.*?^[ \t]*```[ \t]*$"
    r"|(?P<picture>!?)\[(?P<words>[^\]\n]*)\]\((?P<path>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)"
    r"|<doc:(?P<article>\w+)>"
    r"|`[^`\n]+`", re.MULTILINE | re.DOTALL)
DOCC_SYMBOL = re.compile(r"(?<!`)``(?!`)([^`\n]+)``(?!`)")
TITLE = re.compile(r"^# +(.*)$", re.MULTILINE)


def repository_pages(root=ROOT):
    """Maps the path of each page outside of docs to its path in the site."""
    pages = dict(PAGES)
    for pattern, place in GLOBS:
        for path in sorted(root.glob(pattern)):
            pages[path.relative_to(root).as_posix()] = place.format(name=path.name, folder=path.parent.name.lower())
    return pages


def place_of(path, pages):
    """Where the site has a file of the repository; None for a file that it does not have."""
    if path in pages:
        return pages[path]
    return path.removeprefix("docs/") if path.startswith("docs/") and not path.startswith("docs/site/") else None


def rewrite(text, source, pages, exists, title):
    """The text of the page `source` with links that lead somewhere in the site. Links to files that the site does not have become
    code with the path; a link to nothing stays, so that mkdocs reports it."""
    place = place_of(source, pages)

    def target(path):
        return posixpath.relpath(path, posixpath.dirname(place) or ".")

    def link(match):
        picture, words, path, anchor, article = match.groups()
        if article:
            return docc_link(match, article)
        if not path or re.match(r"[a-z][a-z0-9+.-]*:", path):
            return match.group()
        linked = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        there = place_of(linked, pages)
        if there and exists(linked):
            return f"{picture}[{words}]({target(there)}{anchor or ''})"
        if exists(linked):
            return f"`{linked}`" if words.strip("`") in linked else f"{words} (`{linked}`)"
        return match.group()

    def docc_link(match, article):
        sources = [path for path in pages if path.endswith(f".docc/{article}.md")]
        return f"[{title(sources[0])}]({target(pages[sources[0]])})" if sources else match.group()

    return LINK.sub(link, DOCC_SYMBOL.sub(r"`\1`", text))


def on_files(files, config):
    from mkdocs.structure.files import File

    for source, place in repository_pages().items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    for place, picture in schema_pictures.pictures(ROOT):
        files.append(File.generated(config, place, content=picture))
    folder = os.path.dirname(os.path.abspath(__file__))
    for name, place in ASSETS.items():
        files.append(File(name, folder, config.site_dir, True, dest_uri=place))
    return files


def on_page_markdown(markdown, page, config, files):
    pages = repository_pages()
    sources = {place: source for source, place in pages.items()}
    source = sources.get(page.file.src_uri, "docs/" + page.file.src_uri)
    markdown = generated.expand(markdown, ROOT, program_help.folder(ROOT))
    text = rewrite(markdown, source, pages, lambda path: (ROOT / path).exists(), _title)
    return markdown_text.reindent(text)


def _title(path):
    match = TITLE.search((ROOT / path).read_text(encoding="utf-8"))
    return match.group(1).strip("`") if match else path
