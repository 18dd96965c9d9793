"""A person in a browser without scripts: opens our pages, keeps their cookies, sends their forms."""

import html.parser
import urllib.parse
import urllib.request


class Forms(html.parser.HTMLParser):
    """The forms of a page, each its action and the fields that it comes with."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.found.append((attributes["action"], {}))
        elif tag in ("input", "button") and "name" in attributes and self.found:
            self.found[-1][1][attributes["name"]] = attributes.get("value", "")


class Person:
    def __init__(self):
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def _open(self, url, form=None):
        """The address that the page is at in the end, and the page."""
        data = urllib.parse.urlencode(form).encode() if form else None
        with self._browser.open(url, data, timeout=30) as answer:
            return answer.url, answer.read().decode()

    def read(self, url):
        """The page."""
        return self._open(url)[1]

    def submit(self, url, which, before=lambda: None, **typed):
        """Opens a page, and sends its form that has this field with this value, with what is typed. `before` is called just
        before it is sent."""
        url, page = self._open(url)
        name, value = which
        action, fields = next((action, fields) for action, fields in Forms(page).found if fields.get(name) == value)
        before()
        return self._open(urllib.parse.urljoin(url, action), {**fields, **typed})[1]

    def set_password(self, link, password):
        return self.submit(link, ("password", ""), password=password, again=password)

    def decide(self, approval_url, verdict, before):
        """Clicks approve or decline on the approval's own page."""
        return self.submit(approval_url, ("verdict", verdict), before)
