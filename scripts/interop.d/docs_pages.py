"""Checks the rendered documentation: it is complete, logs no errors, and requests nothing from other hosts."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urldefrag

from browser import Page, chromium

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}

# The visible text: without hidden elements and scripts, but with the content of shadow roots.
VISIBLE_TEXT = """(() => {
  const parts = [];
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) { parts.push(node.data); return; }
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (/^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT)$/i.test(node.tagName)) return;
      const flows = getComputedStyle(node).display === 'contents';
      if (!flows && !node.checkVisibility({ visibilityProperty: true })) return;
      if (node.shadowRoot) walk(node.shadowRoot);
    }
    node.childNodes.forEach(walk);
  };
  walk(document.body);
  return parts.join(' ');
})()"""

LINKS = "[...new Set([...document.querySelectorAll('a[href]')].map(link => link.href))]"


def check_docs_pages(base_url: str, program: str, place: Path) -> list[str]:
    document = json.loads(read(f"{base_url}/public/v1/openapi.json"))
    guides = {
        "/docs/guide": "docs/INTEGRATING.md",
        "/docs/migrating": "docs/MIGRATING.md",
        "/docs/changes": "docs/API-CHANGES.md",
    }
    pages = {
        "/docs": lambda page: lists(page, endpoints(document), "the endpoint"),
        **{path: checks(Path(text).read_text()) for path, text in guides.items()},
        "/docs/errors": lambda page: lists(page, codes(document), "the code"),
        "/docs/search#proof outcome": lambda page: lists(page, ["Proof of an outcome"], "the found section"),
    }
    complaints = []
    links = set()
    with chromium(program, place) as page:
        for path, check in pages.items():
            page.open(base_url + path)
            found = check(page)
            page.screenshot(place / f"{re.sub('[^a-z]+', '-', path.strip('/'))}.png")
            found += foreign_requests(page, base_url) + page.mishaps()
            links |= set(page.evaluate(LINKS))
            complaints += [f"{path}: {complaint}" for complaint in found]
        page.close()
    return complaints + broken(links, base_url)


def endpoints(document: dict) -> list[str]:
    found = [f"{method} {path}" for path, item in document["paths"].items() for method in item if method in METHODS]
    assert len(found) >= 9, f"the document describes {found} only"
    return found


def checks(guide: str) -> Callable[[Page], list[str]]:
    return lambda page: lists(page, headings(guide), "the heading") + tables(page, guide)


def headings(guide: str) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", guide, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)


def codes(document: dict) -> list[str]:
    """All error codes. The document links to the page of each."""
    found = sorted(set(re.findall(r"/docs/errors/([a-z_]+)", json.dumps(document))))
    assert len(found) >= 30, f"the document has the codes {found} only"
    return found


def lists(page: Page, wanted: list[str], kind: str) -> list[str]:
    """The wanted texts that are not on the page after it has had time to render."""
    missing = wanted

    def nothing_is_missing() -> bool:
        nonlocal missing
        seen = squeezed(page.evaluate(VISIBLE_TEXT))
        missing = [one for one in wanted if squeezed(one) not in seen]
        return not missing

    page.wait_for(nothing_is_missing)
    return [f"{kind} {one!r} cannot be seen" for one in missing]


def tables(page: Page, guide: str) -> list[str]:
    wanted = len(re.findall(r"^\|---", guide, flags=re.MULTILINE))
    drawn = page.evaluate("document.querySelectorAll('table').length")
    return [] if drawn == wanted else [f"{drawn} tables of {wanted} are drawn"]


def foreign_requests(page: Page, base_url: str) -> list[str]:
    """Requests to other hosts. Data and blob URLs are not requests."""
    own_host = urlsplit(base_url).netloc
    asked = [urlsplit(url) for url in page.requested()]
    return [f"asks {url.geturl()}" for url in asked if url.scheme not in ("data", "blob") and url.netloc != own_host]


def broken(links: set[str], base_url: str) -> list[str]:
    ours = sorted({urldefrag(link).url for link in links if urlsplit(link).netloc == urlsplit(base_url).netloc})
    complaints = []
    for link in ours:
        try:
            read(link)
        except urllib.error.HTTPError as error:
            complaints.append(f"the link to {link} leads to a {error.code}")
    return complaints


def squeezed(text: str) -> str:
    """The text in lower case, without blanks, zero-width characters and Markdown marks."""
    return re.sub(r"[\s\u200b\u2060`*]+", "", text).lower()


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()
