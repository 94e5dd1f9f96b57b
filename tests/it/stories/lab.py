"""A user of JupyterLab in a real Chromium: opens a notebook, runs it, and looks at what is shown. One JSON object.

    lab.py URL AXE [FOLDER]    pictures go into the folder
"""

import json, pathlib, sys, tempfile, time

from browser import Browser

url, axe = sys.argv[1], pathlib.Path(sys.argv[2]).read_text()

PANEL = "[...jupyterapp.shell.widgets('main')].find((one) => one.sessionContext)"
KERNEL = f"{PANEL}?.sessionContext?.session?.kernel?.status"
OUTPUTS = "[...document.querySelectorAll('.jp-CodeCell')].map((cell) => (cell.querySelector('.jp-OutputArea') || cell).innerText)"


class Lab(Browser):
    def command(self, name, **arguments):
        """Presses a button of JupyterLab."""
        self.value(f"jupyterapp.commands.execute({json.dumps(name)}, {json.dumps(arguments)}); 0")

    def until(self, code, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.value(code):
                return found
            time.sleep(0.1)
        raise TimeoutError(f"{code}: {self.value(OUTPUTS)}")

    def outputs(self):
        return self.value(OUTPUTS)

    def says(self, *texts):
        """Waits until the last cell that has run says one of these, and the kernel does nothing."""
        self.until(f"{json.dumps(texts)}.some((text) => {OUTPUTS}.at(-1).includes(text)) && {KERNEL} === 'idle'")

    def begin(self, text):
        """Writes a cell below the others and runs it."""
        self.value(f"(() => {{ const notebook = {PANEL}.content; notebook.model.sharedModel.addCell({{ cell_type: 'code', source: {json.dumps(text)} }});"
                   "notebook.activeCellIndex = notebook.widgets.length - 1; return 0; })()")
        self.command("notebook:run-cell")

    def cell(self, text, *says):
        """The same, to its end; what it has shown."""
        self.begin(text)
        self.says(*says)
        return self.outputs()[-1]


def started(folder):
    lab = Lab(folder)
    for domain in ("Page", "Runtime"):
        lab(f"{domain}.enable")
    lab.size(1280, "light")
    lab.open(url)
    lab("Emulation.setFocusEmulationEnabled", enabled=True)
    lab.until(f"!!window.jupyterapp && {KERNEL} === 'idle'")
    lab.value(f"jupyterapp.shell.activateById({PANEL}.id); 0")
    lab.until("!!jupyterapp.shell.currentWidget")
    return lab


def looks(lab, seen):
    """axe, and the widths, in both themes."""
    lab.value(axe + ";0")
    lab.command("application:toggle-left-area") if lab.value("jupyterapp.shell.leftCollapsed === false") else None
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.command("apputils:change-theme", theme=theme)
        lab.until(f"document.body.dataset.jpThemeName === {json.dumps(theme)}")
        for width in (390, 800, 1280):
            lab.size(width, "light")
            time.sleep(0.5)
            found = lab.value("axe.run('.cb').then((all) => all.violations.map((v) => [v.id, v.nodes.map((n) => n.target + ': ' + n.failureSummary)]))")
            wide = lab.value("Math.max(...[...document.querySelectorAll('.cb')].map((one) => one.scrollWidth - one.clientWidth))")
            seen["looks"].append({"width": width, "theme": theme, "violations": found, "too-wide": wide})
            if len(sys.argv) > 3:
                lab.picture(f"{sys.argv[3]}/lab-{width}-{theme.split()[1].lower()}.png")
    lab.size(1280, "light")


with tempfile.TemporaryDirectory() as folder:
    lab = started(folder)
    try:
        seen = {"looks": []}
        # First boot: the kernel has loaded what changes. JupyterLab asks, restarts it, and runs all cells again.
        lab.command("notebook:run-all-cells")
        lab.until("!!document.querySelector('.jp-Dialog') || " + OUTPUTS + ".some((one) => one.includes('ready'))")
        seen["first"] = lab.outputs()
        seen["dialog"] = lab.value("document.querySelector('.jp-Dialog')?.innerText")
        lab.value("document.querySelector('.jp-Dialog .jp-mod-accept, .jp-Dialog .jp-mod-warn')?.click(); 0")
        lab.says("behind")
        seen["second"] = lab.outputs()
        seen["conflict"] = lab.cell("%%boot plan\napp>=3", "error[")
        seen["error"] = lab.cell("raise RuntimeError('CUDA error: no kernel image is available for execution on the device')", "RuntimeError")
        seen["explained"] = lab.cell("%boot explain", "gpu-not-covered")
        seen["foreign"] = lab.cell("%pip install --quiet --no-deps lib==1.0", "packages differ")
        seen["plan"] = lab.cell("%%boot plan\napp>=2\nlarge", "plan: ")
        lab.value("for (const one of document.querySelectorAll('.cb details')) one.open = true")
        looks(lab, seen)
        # A download that moves, and the stop button.
        lab.begin("%%boot\napp>=2\nlarge")
        moving = "[...document.querySelectorAll('progress')].map((one) => one.value).filter((value) => value > 0 && value < 100)"
        seen["progress"] = [lab.until(f"{moving}[0]"), lab.until(f"{moving}.find((value) => value > 50)")]
        lab.command("notebook:interrupt-kernel")
        lab.says("was stopped")
        seen["stopped"] = lab.outputs()[-1]
        seen["again"] = lab.cell("%%boot\napp>=2\nlarge", "restarts", "applied:", "ready:")
        print(json.dumps(seen, indent=1))
    finally:
        lab.close()
