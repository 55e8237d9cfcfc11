"""The page to drop files on: who may ask, what is kept, and a fill through a real browser."""

import base64
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

from graphfill.app._runs import options
from graphfill.app._server import MOST_BYTES, Server
from graphfill.cli import main
from graphfill.errors import InputError

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PICTURES = Path(__file__).parents[2] / "build" / "app"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "town"
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    assert main(["demo", "--folder", str(folder), "--people", "120", "--quiet"]) == 0
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return folder


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.runs.stop()
    server.shutdown()
    server.server_close()


def ask(server, method, path, body=None, **headers):
    """Status, headers and body of an answer; as the page would ask unless told otherwise."""
    port = server.server_port
    given = {"Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in given.items():
        if value is not None:
            line.putheader(name, value)
    if body is not None and "Content-Length" not in given:
        line.putheader("Content-Length", str(len(body)))
    line.endheaders(body)
    answer = line.getresponse()
    return answer.status, dict(answer.headers), answer.read()


def upload(server, role, name, content):
    return ask(server, "PUT", f"/{server.token}/{role}?name={quote(name)}", content)


def ended(server):
    """The state after the run."""
    for _ in range(600):
        state = json.loads(ask(server, "GET", f"/{server.token}/state")[2])
        if not state["running"]:
            return state
        time.sleep(0.1)
    raise TimeoutError


def run(server, command, **asked):
    status, _, said = ask(server, "POST", f"/{server.token}/{command}", json.dumps(asked).encode())
    return ended(server) if status == 200 else (status, said.decode())


# -- who may ask --


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.org"},
        {"Host": "127.0.0.1"},
        {"Host": None},
        {"Origin": "http://example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_other_hosts_and_origins_are_refused(server, headers, method):
    for name in ("", "state", "table", "fill"):
        path = f"/{server.token}/{name}"
        body = b"{}" if method != "GET" else None
        assert ask(server, method, path, body, **headers)[0] == 403
    assert server.runs.files == {}


def test_what_changes_something_needs_an_origin(server):
    for method, name in (("PUT", "table"), ("POST", "check")):
        assert ask(server, method, f"/{server.token}/{name}", b"{}", Origin=None)[0] == 403
    assert ask(server, "GET", f"/{server.token}/", Origin=None)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/", "/state", "/favicon.ico", "//", "/{0}", "/{0}x/", "/x{0}/", "/{0}/nothing", "/{0}/../",
        "/{0}/../../../../etc/passwd", "/{0}/..%2f..%2fetc%2fpasswd", "/{0}//etc/passwd",
        "/{0}/_server.py", "/{0}/page.html", "/{0}/files/people.csv", "/{0}/report", "/{0}/filled",
        "/{0}/filled?name=/etc/passwd", "/etc/passwd", "http://127.0.0.1/{0}/x",
    ],
)  # fmt: skip
def test_no_path_of_the_server_is_readable(server, path):
    status, _, said = ask(server, "GET", path.format(server.token))
    assert status == 404
    assert said == b"There is nothing here: open the address that was printed."


def test_it_listens_on_this_machine_alone_and_each_token_is_new(server, tmp_path):
    assert server.server_address[0] == "127.0.0.1"
    other = Server(tmp_path / "other") if (tmp_path / "other").mkdir() is None else None
    assert other.token != server.token
    assert len(server.token) >= 32
    other.server_close()


def test_the_page_may_load_nothing_but_itself(server):
    for name in ("", "style.css", "script.js"):
        status, headers, content = ask(server, "GET", f"/{server.token}/{name}")
        assert status == 200
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert b"://" not in content


# -- files --


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("people.csv", "people.csv"),
        ("../../people.csv", "people.csv"),
        ("C:\\Users\\ann\\my people (1).csv", "my people (1).csv"),
        ("-o evil.csv", "o evil.csv"),
        ("..", "table"),
        ("/etc/passwd", "passwd"),
        (".bashrc", "bashrc"),
        ("a\nb;$(x).csv", "a_b__(x).csv"),
        ("Städte.csv", "Städte.csv"),
    ],
)
def test_names_of_files_cannot_lead_elsewhere(server, name, kept):
    assert upload(server, "table", name, b"a,b\n1,2\n")[0] == 200
    assert server.runs.files == {"table": kept}
    assert [path.name for path in server.runs.folder.iterdir()] == [kept]


def test_too_large_a_file_is_refused_before_it_is_read(server):
    path = f"/{server.token}/table?name=a.csv"
    status, _, said = ask(server, "PUT", path, Content_Length=str(MOST_BYTES + 1))
    assert (status, said) == (413, b"Files of more than 1,024 MB are for the command.")
    assert ask(server, "PUT", path, Content_Length=None)[0] == 411
    assert ask(server, "PUT", path, Content_Length="-1")[0] == 411
    assert list(server.runs.folder.iterdir()) == []


def test_a_file_replaces_the_one_before_it(server):
    for name in ("a.csv", "b.csv"):
        upload(server, "table", name, b"a\n1\n")
    assert [path.name for path in server.runs.folder.iterdir()] == ["b.csv"]
    status, _, said = upload(server, "edges", "b.csv", b"a\n1\n")
    assert (status, said) == (409, b"The table and the links are both called b.csv: rename one.")


# -- runs --


def test_wrong_files_are_refused_in_the_words_of_the_command(server, town):
    assert run(server, "check") == (409, "Choose the table and the links first.")
    friends = (town / "friends.csv").read_bytes()
    upload(server, "edges", "friends.csv", friends)
    for name, content, sentence in (
        ("notes.docx", b"PK", "notes.docx"),
        ("empty.csv", b"", "empty.csv"),
        ("broken.parquet", b"PAR1 is not enough", "broken.parquet"),
        ("others.csv", b"name,age\nx1,3\nx2,\n", "others.csv"),
    ):
        upload(server, "table", name, content)
        state = run(server, "check")
        assert sentence in state["error"]
        assert state["error"].endswith(".")
        assert str(server.runs.folder) not in state["error"]
        assert "Traceback" not in state["error"]


def test_options_are_those_of_the_command_but_none_that_names_a_file(server, town):
    for name, role in (("people.csv", "table"), ("friends.csv", "edges")):
        upload(server, role, name, (town / name).read_bytes())
    state = run(server, "check", options="--id persn")
    assert state["error"] == "There is no column 'persn' in people.csv; did you mean 'person'?"
    for text in ("--report /tmp/x.html", "-o x", "--load x", "/etc/passwd", "--out=x", "--save=x"):
        status, said = run(server, "fill", options=text)
        assert status == 409
        assert "cannot be given here" in said
    assert "--effort" in run(server, "fill", options="--effort=no")["error"]
    with pytest.raises(InputError, match="quotation mark"):
        options("--missing '", "check")


def test_a_fill_without_the_page(server, town):
    """The table, with two columns filled, is the one that the command writes."""
    people = (town / "people.csv").read_bytes()
    upload(server, "table", "people.csv", people)
    upload(server, "edges", "friends.csv", (town / "friends.csv").read_bytes())
    seen = run(server, "check")["summary"]
    assert [column["name"] for column in seen["columns"] if column["n_missing"]]
    assert ask(server, "GET", f"/{server.token}/filled")[0] == 404
    asked = {"columns": ["age", "city"], "options": "--effort fast --id person"}
    state = run(server, "fill", **asked)
    assert state["summary"]["filled"] == sum(
        column["n_missing"] for column in seen["columns"] if column["name"] in asked["columns"]
    )
    status, headers, content = ask(server, "GET", f"/{server.token}/filled")
    assert status == 200
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''people-filled.csv"
    line = "impute people.csv friends.csv -o by.csv --columns age,city --effort fast --quiet"
    command = [sys.executable, "-m", "graphfill", *line.split(), "--id", "person"]
    subprocess.run(command, cwd=town, check=True)
    assert content == (town / "by.csv").read_bytes()
    status, headers, page = ask(server, "GET", f"/{server.token}/report")
    assert status == 200
    assert headers["Content-Security-Policy"].endswith("sandbox")
    assert b"graphfill impute" in page
    assert str(server.runs.folder).encode() not in page
    upload(server, "table", "people.csv", people)  # what was made of the old one is gone
    assert ask(server, "GET", f"/{server.token}/filled")[0] == 404


def test_a_run_can_be_stopped_and_is_alone(server, town):
    for name, role in (("people.csv", "table"), ("friends.csv", "edges")):
        upload(server, role, name, (town / name).read_bytes())
    path = f"/{server.token}/"
    assert ask(server, "POST", f"{path}fill", b"{}")[0] == 200
    assert ask(server, "POST", f"{path}check", b"{}")[0] == 409
    assert upload(server, "table", "people.csv", b"a\n")[0] == 409
    assert ask(server, "POST", f"{path}stop", b"{}")[0] == 200
    assert ended(server)["error"]
    assert not (server.runs.folder / "people-filled.csv").exists()


def test_what_is_no_request_of_the_page_is_refused(server):
    for body in (b"{", b"[]", b'{"columns": 1}', b"\xff"):
        assert ask(server, "POST", f"/{server.token}/check", body)[0] == 400
    assert ask(server, "POST", f"/{server.token}/nothing", b"{}")[0] == 404
    assert ask(server, "PUT", f"/{server.token}/nothing", b"{}")[0] == 404
    assert ask(server, "DELETE", f"/{server.token}/table", b"{}")[0] == 501


# -- the command --


def started(*more, **environment):
    command = subprocess.Popen(
        [sys.executable, "-m", "graphfill", "app", "--no-browser", *more],
        env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return command, re.search(r"http://\S+", command.stdout.readline() or "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_removes_its_files(tmp_path, number):
    command, address = started(TMPDIR=str(tmp_path))
    port = int(re.search(r":(\d+)/", address[0])[1])
    body = b"a,b\n1,2\n"
    line = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Origin": f"http://127.0.0.1:{port}"}
    line.request("PUT", address[0] + "table?name=a.csv", body, headers)
    assert line.getresponse().status == 200
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    command.send_signal(number)
    _, said = command.communicate(timeout=20)
    assert command.returncode == 0
    assert said == ""
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_refused(server):
    command, address = started("--port", str(server.server_port))
    _, said = command.communicate(timeout=20)
    assert address is None
    assert command.returncode == 1
    assert said.startswith(f"graphfill: Port {server.server_port} cannot be used (")
    assert said.endswith("): name another with --port, or leave it out.\n")


# -- a browser --

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver: `make browser` installs them"
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    from selenium import webdriver

    chosen = webdriver.ChromeOptions()
    chosen.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        chosen.add_argument(argument)
    chosen.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(
        options=chosen, service=webdriver.ChromeService(executable_path=DRIVER)
    )
    driver.downloads = tmp_path_factory.mktemp("downloads")
    where = {"behavior": "allow", "downloadPath": str(driver.downloads)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    yield driver
    driver.quit()


def wait_for(driver, script, seconds=60):
    for _ in range(10 * seconds):
        if found := driver.execute_script(f"return {script}"):
            return found
        time.sleep(0.1)
    raise TimeoutError(script)


def choose(driver, role, path):
    driver.find_element("css selector", f"#{role} input").send_keys(str(path))


def picture(driver, name, width, scheme):
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {})
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(taken["data"]))


@needs_browser
def test_the_demo_is_filled_through_the_page(driver, server, town, tmp_path):
    driver.get_log("performance")
    driver.get(server.address)
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("name,age\nx1,3\nx2,\n")
    choose(driver, "table", wrong)
    choose(driver, "edges", town / "friends.csv")
    shown = wait_for(driver, "!problem.hidden && problem.innerText")
    assert "wrong.csv" in shown
    assert driver.execute_script("return seen.hidden")
    choose(driver, "table", town / "people.csv")
    wait_for(driver, "!seen.hidden")
    assert driver.execute_script("return problem.hidden")
    assert "cells are missing in 120 rows" in driver.execute_script("return seen.innerText")
    driver.execute_script("document.querySelector('input[value=newsletter]').click()")
    driver.execute_script("options.value = '--effort fast'")
    picture(driver, "seen", 360, "dark")
    driver.execute_script("fill.click()")
    wait_for(driver, "!done.hidden")
    heading = driver.execute_script("return document.querySelector('#done h2').innerText")
    assert re.fullmatch(r"(\d+) of \1 missing cells are filled", heading)
    driver.switch_to.frame(driver.find_element("css selector", "iframe"))
    wait_for(driver, "document.querySelectorAll('svg').length > 3")
    report = driver.execute_script("return document.body.innerText")
    assert "What goes missing together" in report
    driver.switch_to.default_content()
    for width in (360, 1440):
        picture(driver, "done", width, "light")
        wide = "return document.documentElement.scrollWidth"
        assert driver.execute_script(wide) <= width
    driver.execute_script("download.click()")
    target = driver.downloads / "people-filled.csv"
    for _ in range(100):
        if target.exists():
            break
        time.sleep(0.1)
    before = (town / "people.csv").read_text().splitlines()
    after = target.read_text().splitlines()
    assert len(after) == len(before)
    assert not any(",," in line.rpartition(",")[0] for line in after)
    events = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"].endswith("WillBeSent")]
    assert asked
    assert all(url.startswith((server.address, "data:")) for url in asked)
    # The upload of the wrong table is refused by a check, not by a failed request.
    assert [entry["message"] for entry in driver.get_log("browser")] == []


@needs_browser
def test_files_can_be_dropped(driver, server):
    driver.get(server.address)
    driver.execute_script(
        "const given = new DataTransfer(); given.items.add(new File(['id,x\\n1,2\\n'], 'a.csv'));"
        "const event = new DragEvent('drop', {dataTransfer: given, cancelable: true});"
        "document.querySelector('#table').dispatchEvent(event)"
    )
    wait_for(driver, "document.querySelector('#table').classList.contains('here')")
    assert server.runs.files == {"table": "a.csv"}


@needs_browser
def test_a_page_of_another_origin_can_do_nothing(driver, server, tmp_path):
    page = tmp_path / "elsewhere.html"
    page.write_text("<!doctype html><title>elsewhere</title>")
    driver.get(page.as_uri())
    tried = driver.execute_async_script(
        "const [address, done] = arguments; Promise.all(["
        "fetch(address + 'state').then(() => 'read', () => 'refused'),"
        "fetch(address + 'table?name=x.csv', {method: 'PUT', body: 'x'}).then(() => 'read', () => "
        "'refused'),"
        "fetch(address + 'table?name=x.csv', {method: 'POST', mode: 'no-cors', body: 'x'})"
        ".then(() => 'read', () => 'refused')]).then(done)",
        server.address,
    )
    assert tried == ["refused"] * 3
    assert server.runs.files == {}


@needs_browser
def test_the_page_can_be_heard(driver, server):
    driver.get(server.address)
    faults = driver.execute_script(
        "return [...document.querySelectorAll('input, button, section, iframe, progress')].filter("
        "e => !(e.labels?.length || e.innerText || e.ariaLabel || e.title || "
        "e.getAttribute('aria-labelledby') || e.textContent.trim())).map(e => e.outerHTML)"
    )
    assert faults == []
    assert driver.execute_script("return document.documentElement.lang") == "en"
