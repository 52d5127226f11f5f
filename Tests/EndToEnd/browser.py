"""A browser that follows links, forms and redirects as a person does, without scripts."""

import html.parser
import urllib.parse

import requests

REDIRECTS_MAX = 10
SECONDS = 15


class _Page(html.parser.HTMLParser):
    """Links, forms with the fields that are filled in, and headings of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.forms, self.headings, self._in_heading = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "form":
            self.forms.append({"action": values.get("action", ""), "method": values.get("method", "get").lower(), "fields": {}})
        elif tag == "input" and "name" in values and values.get("type") != "checkbox" and self.forms:
            self.forms[-1]["fields"][values["name"]] = values.get("value", "")
        elif tag == "h1":
            self._in_heading = True

    def handle_endtag(self, tag):
        if tag == "h1":
            self._in_heading = False

    def handle_data(self, data):
        if self._in_heading:
            self.headings.append(data)


class Browser:
    """Keeps cookies by host. A redirect that leads to none of `hosts` is not followed: it is where the app takes over."""

    def __init__(self, *hosts):
        self.hosts = hosts
        self.session = requests.Session()
        self.session.headers["User-Agent"] = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1"
        self.response = None

    @property
    def page(self):
        return _Page(self.response.text)

    def open(self, url):
        return self._go("GET", url)

    def _go(self, method, url, data=None):
        for _ in range(REDIRECTS_MAX):
            if urllib.parse.urlsplit(url).netloc not in self.hosts:
                return url
            self.response = self.session.request(method, url, data=data, allow_redirects=False, timeout=SECONDS)
            if self.response.status_code not in (302, 303):
                return None
            # To 303 a browser goes on by GET (RFC 9110 section 15.4.4).
            method, data = "GET", None
            url = urllib.parse.urljoin(url, self.response.headers["Location"])
        raise AssertionError(f"more than {REDIRECTS_MAX} redirects, at last to {url}")

    def follow(self, part):
        """Follows the link whose address has this in it."""
        link = next(link for link in self.page.links if part in link)
        return self.open(urllib.parse.urljoin(self.response.url, link))

    def submit(self, to="", **more):
        """Submits the page's first form whose address has this in it, with these values in the place of its own."""
        form = next(form for form in self.page.forms if to in form["action"])
        url = urllib.parse.urljoin(self.response.url, form["action"]) if form["action"] else self.response.url
        if form["method"] == "get":
            return self.open(f"{url}?{urllib.parse.urlencode(form['fields'] | more)}")
        return self._go("POST", url, form["fields"] | more)
