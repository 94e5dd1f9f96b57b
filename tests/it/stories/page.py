"""Looks at a page in a real Chromium through its DevTools: what axe says, widths, dark, keys alone, requests, faults. One JSON object."""

import json, pathlib, sys, tempfile

from browser import Browser

page, axe = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).read_text()


HERE = """(() => { const e = document.activeElement, s = getComputedStyle(e);
  return [e.tagName, e.id || e.name || e.textContent.slice(0, 40), e.value || "", s.outlineStyle]; })()"""

with tempfile.TemporaryDirectory() as folder:
    browser = Browser(folder)
    try:
        for domain in ("Page", "Runtime", "Network", "Log"):
            browser(f"{domain}.enable")
        seen = {"looks": []}
        browser("Page.setBypassCSP", enabled=True)  # for axe; the page's own requests are watched below
        for width, scheme in ((390, "light"), (390, "dark"), (800, "dark"), (1280, "light")):
            browser.size(width, scheme)
            browser.open(page.as_uri())
            browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
            # Of a notebook, what a front end draws around our output is its own.
            browser.value(axe + ";window.ours = document.querySelector('.jp-Notebook, .jp-Cell') ? '.cb' : document;0")
            found = browser.value("axe.run(ours).then((all) => all.violations.map((v) => [v.id, v.impact, v.nodes.map((n) => n.target + ': ' + n.failureSummary)]))")
            wide = browser.value("document.documentElement.scrollWidth - innerWidth")
            back = browser.value("getComputedStyle(document.body).backgroundColor")
            passed = browser.value("axe.run(ours).then((all) => all.passes.length)")
            seen["looks"].append({"width": width, "scheme": scheme, "violations": found, "too-wide": wide, "back": back, "passes": passed})
            if len(sys.argv) > 3:
                browser.picture(f"{sys.argv[3]}/{width}-{scheme}.png")
        if not browser.value("!!document.getElementById('gpu')"):
            print(json.dumps(seen))  # no picker
            sys.exit()
        browser("Page.setBypassCSP", enabled=False)
        browser.events.clear()
        browser.open(page.as_uri())
        # Keys alone: each stop is seen (an outline), and the last is not a trap.
        stops = []
        for _ in range(60):
            browser.key("Tab", 9)
            stops.append(browser.value(HERE))
            if stops[-1][0] == "BODY":
                break
        seen["stops"] = stops
        stop = "a[href], summary, input[type=radio]:checked, #smi, button, [tabindex]"
        seen["reached"] = browser.value(f"[...document.querySelectorAll('{stop}')].filter((one) => one.checkVisibility()).length")
        browser.open(page.as_uri())
        while browser.value(HERE)[1] != "gpu":
            browser.key("Tab", 9)
        browser.key("ArrowDown", 40)
        seen["chosen"] = [browser.value(HERE), browser.value("location.hash"), browser.value("document.getElementById('answer').innerText")]
        # All that can be chosen, and what fits it.
        seen["fits"] = browser.value("""["", ...options.gpu].flatMap((gpu) => ["", ...options.framework].flatMap((framework) =>
          ["", ...options.runtime].map((runtime) => [gpu, framework, runtime, fits({ gpu, framework, runtime }).map((r) => r.title)])))""")
        browser.open(page.as_uri() + "#framework=lib")
        browser.value("document.querySelector('[name=gpu]').focus(); 0")
        # What a screen reader gets.
        browser("Accessibility.enable")
        tree = browser("Accessibility.getFullAXTree")["nodes"]
        names = lambda role: [node.get("name", {}).get("value", "") for node in tree if node.get("role", {}).get("value") == role]
        seen["tree"] = {role: names(role) for role in ("main", "radio", "textbox", "status", "group", "heading", "region")}
        urls = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
        seen["requests"] = sorted({url.split("#")[0] for url in urls} - {page.as_uri(), "about:blank"})
        faults = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        seen["faults"] = [event for event in browser.events if event.get("method") in faults]
        print(json.dumps(seen))
    finally:
        browser.close()
