"""A site for pages of tests: files of some folders, and one page at every other path."""

import contextlib
import functools
import http.server
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIT = ROOT / "Sources/Kits/JavaScript"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html; charset=utf-8", ".css": "text/css"}


class _Handler(http.server.BaseHTTPRequestHandler):
    """Files of some folders, by the first name of the path; the page for everything else."""

    def __init__(self, folders, page, texts, *arguments):
        self.folders, self.shown, self.texts = folders, page, texts
        super().__init__(*arguments)

    def do_GET(self):
        path = self.path.split("?")[0]
        first, _, rest = path.removeprefix("/").partition("/")
        if path in self.texts:
            return self._send(self.texts[path].encode(), "text/javascript")
        folder = self.folders.get(first)
        beside = self.shown.parent / path.removeprefix("/")
        file = (folder / rest).resolve() if folder else beside if beside.is_file() else self.shown
        if folder and (not file.is_relative_to(folder.resolve()) or not file.is_file()):
            return self.send_error(404)
        return self._send(file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

    def _send(self, body, content_type):
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(port, page, folders=None, texts=None):
    """Serves a page at 127.0.0.1, with the kit at /kit; gives the origin."""
    handler = functools.partial(_Handler, {"kit": KIT, **(folders or {})}, page, texts or {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.shutdown()
        server.server_close()
