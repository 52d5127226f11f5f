"""A real Chromium, and web servers of other origins, at the very addresses that the demo has."""

import contextlib
import functools
import http.server
import pathlib
import threading

from browser_pages import launched

WEB_APP = pathlib.Path(__file__).parent / "WebApp"
# Where the demo has its web app and its backend. Chromium finds our ports under these names, so that nothing in the app or in
# the stack's list of origins has to be another one for a test.
WEB_APP_ORIGIN = "http://localhost:3000"
FOREIGN_ORIGIN = "http://localhost:3999"
BACKEND = "localhost:6969"
# For a wait of the browser; nothing takes that long.
MILLISECONDS = 30_000


class WebServer(http.server.ThreadingHTTPServer):
    """The web app's files; quiet, since each request would be a line of the test's output."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), functools.partial(self.Handler, directory=WEB_APP))
        threading.Thread(target=self.serve_forever, daemon=True).start()


@contextlib.contextmanager
def chromium(playwright, gateway, *more_mappings):
    """A browser for which the gateway is the demo's backend."""
    with WebServer() as server:
        ours = f"127.0.0.1:{server.server_port}"
        rules = [
            *more_mappings, f"MAP {BACKEND} {gateway}",
            *(f"MAP {origin.removeprefix('http://')} {ours}" for origin in (WEB_APP_ORIGIN, FOREIGN_ORIGIN))]
        with launched(playwright, f"--host-resolver-rules={', '.join(rules)}") as browser:
            yield browser
        server.shutdown()
