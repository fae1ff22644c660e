"""Looks at the built site in Chromium as a phone and as a screen show it: no page may scroll sideways, and none may ask for
what is not there, or report an error. Pictures of the pages are kept where a folder for them is named.

    python site/look.py SITE [--pictures FOLDER] [--dark] [--only TEXT]
"""

import argparse
import functools
import http.server
import pathlib
import shutil
import sys
import threading

from playwright.sync_api import sync_playwright

WIDTHS = (390, 1280)
#: Pages of rustdoc are its own affair, but for these; and what is no page to be read.
RUST = ("api/rust/feedline/index.html", "api/rust/feedline/loader/struct.Loader.html")
NO_PAGES = ("toc.html", "api/python/index.html")
#: Height of a picture; a long page becomes several.
SLICE = 4000
#: What reaches beyond the page's right edge, and does not scroll within something that does.
BEYOND = """() => [...document.querySelectorAll("body *")].filter(each => {
    const reaches = each.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
    for (let around = each.parentElement; reaches && around && around !== document.body; around = around.parentElement)
        if (getComputedStyle(around).overflowX !== "visible") return false;
    return reaches;
}).slice(0, 3).map(each => `${each.tagName.toLowerCase()}.${each.className}: ${each.textContent.trim().slice(0, 60)}`)"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site and logs nothing."""

    def log_message(self, *arguments):
        pass


def pages(site):
    found = [page.relative_to(site).as_posix() for page in sorted(site.rglob("*.html"))]
    found = [page for page in found if page not in NO_PAGES and (not page.startswith("api/rust/") or page in RUST)]
    return found if len(found) > len(RUST) else sys.exit(f"{site} has no pages: build the site first")


def look(page, url, width, wrong):
    """Opens a page and notes what is wrong with it."""
    problems = []

    def failed(response):
        if response.status >= 400:
            problems.append(f"{response.status} for {response.url}")

    def stumbled(error):
        problems.append(f"error {error}")

    noted = (("pageerror", stumbled), ("response", failed))
    for event, note in noted:
        page.on(event, note)
    page.goto(url, wait_until="load")
    across = page.evaluate("document.documentElement.scrollWidth")
    if across > width:
        problems.append(f"scrolls sideways: it is {across} pixels wide; beyond the edge are {page.evaluate(BEYOND)}")
    for event, note in noted:
        page.remove_listener(event, note)
    wrong += [f"{url} at {width} pixels: {problem}" for problem in problems]


def keep(page, name, width, folder):
    """Pictures of a whole page, in slices."""
    height = page.evaluate("document.documentElement.scrollHeight")
    for at, top in enumerate(range(0, height, SLICE)):
        clip = {"x": 0, "y": top, "width": width, "height": min(SLICE, height - top)}
        page.screenshot(path=folder / f"{name.replace('/', '+')}-{width}-{at}.png", clip=clip, full_page=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("site", type=pathlib.Path)
    arguments.add_argument("--pictures", type=pathlib.Path)
    arguments.add_argument("--dark", action="store_true")
    arguments.add_argument("--only", default="")
    told = arguments.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("there is no Chromium: install it")
    names = [name for name in pages(told.site) if told.only in name]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=told.site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in WIDTHS:
            page = browser.new_page(
                viewport={"width": width, "height": 1000}, color_scheme="dark" if told.dark else "light"
            )
            for name in names:
                look(page, f"http://127.0.0.1:{server.server_port}/{name}", width, wrong)
                if told.pictures:
                    told.pictures.mkdir(parents=True, exist_ok=True)
                    keep(page, name, width, told.pictures)
            page.close()
        browser.close()
    print(f"{len(names)} pages at {' and '.join(map(str, WIDTHS))} pixels")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
