"""A page of HTML as its tests read it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Fails on tags that are not closed in order and on what is loaded; collects text and links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.links, self.open, self.seen = "", [], [], set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        self.seen.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
