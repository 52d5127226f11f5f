"""The check of the site fires on each way in which a page makes a request to another server, and is silent on links to click."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "site"))

import check_requests  # noqa: E402


class RequestTests(unittest.TestCase):
    def test_what_a_page_loads_from_another_server(self):
        for text in (
            '<script src="https://cdn.example.com/a.js"></script>',
            '<script src="//cdn.example.com/a.js"></script>',
            '<link rel="stylesheet" href="https://fonts.example.com/css">',
            '<link rel="preconnect" href="https://fonts.example.com">',
            '<img src="http://example.com/a.png">',
            '<img srcset="a.png 1x, https://example.com/b.png 2x">',
            '<iframe src="https://example.com"></iframe>',
            '<object data="https://example.com/a.svg"></object>',
            '<svg><image href="https://example.com/a.png"/></svg>',
            '<svg><use xlink:href="https://example.com/a.svg#b"/></svg>',
            '<p style="background: url(https://example.com/a.png)"></p>',
            "<style>@import 'https://example.com/a.css';</style>",
            '<script>fetch("https://example.com/a.json")</script>',
            '<meta http-equiv="refresh" content="0; url=https://example.com">',
            '<pre class="mermaid">graph TD</pre>',
            '<a data-md-component="source">facts of a repository</a>',
        ):
            self.assertEqual(len(check_requests.faults("a.html", text)), 1, text)
        self.assertEqual(len(check_requests.faults("a.css", "@font-face { src: url('https://example.com/a.woff2') }")), 1)
        self.assertEqual(len(check_requests.faults("a.js", 'import("https://example.com/a.js")')), 1)
        self.assertEqual(len(check_requests.faults("a.svg", '<svg><image href="https://example.com/a.png"/></svg>')), 1)

    def test_what_it_does_not(self):
        for text in (
            '<a href="https://example.com">a link</a>',
            '<link rel="canonical" href="https://example.com/a">',
            '<script src="assets/a.js"></script><link rel="stylesheet" href="../a.css"><img src="data:image/png;base64,AA//BB">',
            '<code>curl https://example.com</code> // a comment',
            '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
        ):
            self.assertEqual(check_requests.faults("a.html", text), [], text)
        self.assertEqual(check_requests.faults("a.css", "a { b: url(a.png) } /* https://example.com */"), [])
        self.assertEqual(check_requests.faults("a.js", 'load("https://unpkg.com/mermaid@11/dist/mermaid.min.js")'), [])

    def run_main(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(text)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                return check_requests.main([folder]), printed.getvalue()

    def test_a_site_with_one_such_page_fails(self):
        self.assertEqual(self.run_main(good="<p>text</p>"), (0, ""))
        code, printed = self.run_main(good="<p>text</p>", bad='<script src="https://cdn.example.com/a.js"></script>')
        self.assertEqual(code, 1)
        self.assertEqual(printed, "bad.html: a request to another server: https://cdn.example.com/a.js\n")

    def test_an_empty_site_fails(self):
        self.assertEqual(self.run_main()[0], 1)


if __name__ == "__main__":
    unittest.main()
