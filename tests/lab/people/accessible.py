"""Acts on a page as a screen reader does: through the accessibility interface of the desktop, AT-SPI.

Reads one command a line: {"do": "press" | "focus", "id": "name"}. Answers "ok", or what is missing.
"""

import json
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

LIMIT_S = 15
MAX_DEPTH = 60


def find(node, name, depth=0):
    """Finds the element with an id. Other programs and closed pages may be gone while they are read."""
    try:
        if (node.get_attributes() or {}).get("id") == name:
            return node
        if depth == MAX_DEPTH:
            return None
        for index in range(node.get_child_count()):
            child = node.get_child_at_index(index)
            found = child and find(child, name, depth + 1)
            if found:
                return found
    except Exception:
        return None
    return None


def act(command):
    until = time.monotonic() + LIMIT_S
    while True:
        node = find(Atspi.get_desktop(0), command["id"])
        if node:
            break
        if time.monotonic() > until:
            return f"nothing has the id {command['id']}"
        time.sleep(0.2)
    if command["do"] == "focus":
        return "ok" if Atspi.Component.grab_focus(node) else "no focus"
    return "ok" if Atspi.Action.do_action(node, 0) else "no action"


Atspi.init()
print("ready", flush=True)
for line in sys.stdin:
    print(act(json.loads(line)), flush=True)
