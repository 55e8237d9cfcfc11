"""The page in a real browser: nothing loaded, nothing cut off, readable in every light."""

import base64
import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from graphfill.report import write_report
from report import sample

PICTURES = Path(__file__).parents[2] / "build" / "report"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WIDTHS = (360, 1440)
PAGES = {
    "town": sample.town,
    "hostile": sample.hostile,
    "empty": dict,
    "wide": lambda: sample.wide(500),
}

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver: `make browser` installs them"
)


class Browser:
    """Chromium without a window, with what it says and asks for."""

    def __init__(self, folder):
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(executable_path=DRIVER)
        self.driver = webdriver.Chrome(options=options, service=service)
        self.addresses = {}
        for name, made in PAGES.items():
            write_report(made(), folder / f"{name}.html")
            self.addresses[name] = (folder / f"{name}.html").as_uri()

    def show(self, name, width=1440, scheme="light", media="screen", opened=True):
        """Open a page as a reader would see it."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.tell("Emulation.setEmulatedMedia", media=media, features=features)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        self.driver.get_log("performance")
        self.driver.get(self.addresses[name])
        if opened:
            self.run("document.querySelectorAll('details').forEach(d => d.open = true)")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def tell(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def picture(self, name):
        taken = self.tell("Page.captureScreenshot", captureBeyondViewport=True)
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("pages"))
    yield browser
    browser.driver.quit()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_asked_for_and_nothing_goes_wrong(browser, name):
    browser.driver.get_log("browser")
    browser.show(name)
    events = [json.loads(e["message"])["message"] for e in browser.driver.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"].endswith("WillBeSent")]
    assert set(asked) == {browser.addresses[name]}
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert browser.driver.get_log("browser") == []


def test_the_policy_stops_what_the_page_does_not_have(browser):
    browser.show("hostile")
    browser.run(
        "window.ran = false; const s = document.createElement('script');"
        "s.textContent = 'window.ran = true'; document.body.append(s);"
        "const i = document.createElement('img'); i.src = 'https://example.org/x.png';"
        "document.body.append(i)"
    )
    assert browser.run("return window.ran") is False
    said = " ".join(entry["message"] for entry in browser.driver.get_log("browser"))
    assert "script" in said
    assert "x.png" in said


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_its_window(browser, name, width):
    browser.show(name, width)
    wide, window = browser.run(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert wide <= window == width
    # Only tables may hold more than they show, each within its own frame.
    assert browser.run(
        "return [...document.querySelectorAll('main *:not(.scroll, .scroll *, svg *)')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
    ) == []  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["town", "hostile"])
def test_figures_are_seen_and_their_letters_stay_inside(browser, name, width):
    browser.show(name, width)
    figures = browser.run(
        "return [...document.querySelectorAll('svg')].map(s => { const r = "
        "s.getBoundingClientRect(); const t = [...s.querySelectorAll('text')].map(e => "
        "e.getBoundingClientRect()); return [r.width, r.height, r.left, r.right, Math.min(...t.map("
        "b => b.left)) - r.left, r.right - Math.max(...t.map(b => b.right)), "
        "Math.min(...t.filter(b => b.width).map(b => b.height))] })"
    )
    assert len(figures) >= 28
    for seen_width, height, left, right, room_left, room_right, letters in figures:
        assert seen_width > 250
        assert height > 20
        assert left >= 0
        assert right <= width
        assert min(room_left, room_right) >= -2
        assert letters >= 11


@pytest.mark.parametrize("name", ["town", "hostile", "wide"])
def test_verdict_and_share_are_seen_without_scrolling_on_a_phone(browser, name):
    browser.show(name, 360)
    rights = browser.run(
        "return [...document.querySelectorAll('nav tr')].map(r => [...r.cells].slice(0, 3)"
        ".map(c => [c.innerText.trim(), c.getBoundingClientRect().right]))"
    )
    assert len(rights) > 5
    for cells in rights:
        assert all(words for words, _ in cells)
        assert cells[2][1] <= 360
    assert [words for words, _ in rights[0]] == ["column", "verdict", "explained"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_come_before_tables_and_every_mark_is_seen(browser, scheme, width):
    browser.show("town", width, scheme, opened=False)
    top = "return document.querySelector('{}').getBoundingClientRect().top"
    assert browser.run(top.format("#pictures")) < browser.run(top.format("table"))
    seen = browser.run(
        "return [...document.querySelectorAll('#pictures ~ .beside svg')].map(s => { const r = "
        "s.getBoundingClientRect(); return [...s.querySelectorAll('[class^=mark], .shade')].map("
        "e => { const b = e.getBoundingClientRect(), c = getComputedStyle(e); return ["
        "b.left >= r.left - 4 && b.right <= r.right + 4 && b.bottom <= r.bottom + 4, "
        "c.stroke == 'none' ? c.fill : c.stroke] }) })"
    )
    assert len(seen) == 6
    marks = [mark for figure in seen for mark in figure]
    assert len(marks) > 20
    assert all(inside for inside, _ in marks)
    assert len({colour for _, colour in marks}) == 4  # known, filled and shades, uncertain, missing


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_kept(browser, scheme, width):
    for opened in (False, True):
        browser.show("town", width, scheme, opened=opened)
        browser.picture(f"town-{width}-{scheme}{'-open' if opened else ''}")
    red = browser.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) < 60) == (scheme == "dark")


def test_every_part_is_there_in_order(browser):
    browser.show("town", opened=False)
    heads = browser.run("return [...document.querySelectorAll('h2')].map(h => h.innerText)")
    assert heads == [
        "In short",
        "Before you use it",
        "Pictures",
        "Columns",
        "Column by column",
        "To repeat this run",
        "Notes",
        "How to read this",
    ]
    names = browser.run("return [...document.querySelectorAll('details h3')].map(h => h.innerText)")
    assert names == [c["name"] for c in sample.town()["columns"] if c["n_missing"]]
    browser.run("document.querySelector('details').open = true")
    parts = browser.run(
        "return [...document.querySelectorAll('details')[0].querySelectorAll('h4')]"
        ".map(h => h.innerText)"
    )
    assert parts == [
        "How well each method does",
        "Known and filled values",
        "Do the stated chances hold?",
        "Where cells are missing",
        "How far the missing cells are from known ones",
        "The least trustworthy rows",
    ]


def test_a_name_in_the_overview_opens_its_section(browser):
    browser.show("town", opened=False)
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0
    browser.run("document.querySelector('nav a[href=\"#c3\"]').click()")
    opened = "return [...document.querySelectorAll('details[open] h3')].map(h => h.innerText)"
    assert browser.run(opened) == ["city"]
    top = "return document.querySelector('details[open] summary').getBoundingClientRect().top"
    assert -1 <= browser.run(top) < 900


def test_all_sections_are_open_in_print(browser):
    tall = "return [...document.querySelectorAll('.inside')].map(e => e.offsetHeight)"
    browser.show("town", opened=False)
    closed = browser.run("return document.documentElement.scrollHeight")
    browser.show("town", media="print", opened=False)
    assert min(browser.run(tall)) > 20
    hidden = browser.run(
        "return [...document.querySelectorAll('.inside *:not(.back, .back *, svg *)')]"
        ".filter(e => !e.checkVisibility()).map(e => e.outerHTML)"
    )
    assert hidden == []
    assert browser.run("return document.documentElement.scrollHeight") > 2 * closed
    PICTURES.mkdir(parents=True, exist_ok=True)
    printed = base64.b64decode(browser.tell("Page.printToPDF", printBackground=True)["data"])
    (PICTURES / "town.pdf").write_bytes(printed)
    assert printed.count(b"/Type /Page\n") >= 5


@pytest.mark.parametrize("name", PAGES)
def test_it_can_be_heard(browser, name):
    browser.show(name)
    levels = browser.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for selector in (
        "html[lang=en]",
        "header",
        "main",
        "footer",
        "head title",
        "a.skip[href='#main']",
    ):
        assert browser.run("return document.querySelectorAll(arguments[0]).length", selector) == 1
    faults = browser.run(
        """
        const faults = [], all = s => [...document.querySelectorAll(s)];
        const named = e => (e.getAttribute('aria-labelledby') || '').split(' ')
            .map(id => document.getElementById(id)?.textContent.trim() || '').join('');
        for (const s of all('svg')) {
            if (s.getAttribute('role') != 'img' || !named(s)) faults.push('unnamed figure');
            if (!s.querySelector('desc').textContent.trim()) faults.push('undescribed figure');
        }
        for (const t of all('table')) {
            if (!t.caption?.innerText.trim()) faults.push('table without caption');
            for (const h of t.querySelectorAll('th')) {
                if (!h.scope) faults.push('th without scope');
                if (!h.innerText.trim()) faults.push('empty th');
            }
            const n = t.tHead.rows[0].cells.length;
            for (const r of t.tBodies[0].rows) if (r.cells.length != n) faults.push('ragged table');
        }
        for (const s of all('.scroll')) if (s.tabIndex != 0 || !named(s)) faults.push('scroll');
        for (const a of all('a')) if (!a.innerText.trim()) faults.push('empty link');
        for (const e of all('section[aria-labelledby]')) if (!named(e)) faults.push('section');
        for (const e of all('summary')) if (!e.innerText.trim()) faults.push('empty summary');
        return faults
        """
    )
    assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_have_contrast_as_they_are_drawn(browser, scheme):
    browser.show("town", scheme=scheme)
    low = browser.run(
        """
        const numbers = c => c.match(/[\\d.]+/g).map(Number);
        const shine = c => { const [r, g, b] = numbers(c).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b };
        const paper = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor; if (numbers(c)[3] !== 0) return c } };
        const found = [];
        for (const e of document.querySelectorAll('body *')) {
            if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
            if (e.matches('title, desc')) continue;
            const style = getComputedStyle(e);
            const ink = shine(e.matches('svg *') ? style.fill : style.color);
            const [a, b] = [ink, shine(paper(e))].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.5) found.push(e.outerHTML);
        }
        return found
        """
    )
    assert low == []
