# SPDX-License-Identifier: Apache-2.0
"""The API reference of `make docs`: HTML pages, one for each group of functions, and an index of all names."""
import html
import re

import abi

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem;color:#111;background:#fff}
nav a{margin-right:1em}h2{margin-top:2em;border-top:1px solid #999;padding-top:.6em}pre,code{font-family:ui-monospace,monospace;font-size:.92em}
pre{white-space:pre-wrap;background:#f3f3f3;padding:.6em;overflow-x:auto}table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{text-align:left;vertical-align:top;padding:.15em .8em .15em 0;border-bottom:1px solid #ccc}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}a{color:#8cf}}"""


def table(heads, rows):
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return "<table><tr>" + "".join(f"<th scope=\"col\">{head}</th>" for head in heads) + f"</tr>\n{cells}</table>\n"


class Pages:
    def __init__(self):
        self.whole = abi.Abi(headers=("rnnpack.h", "threads.h", "cuda.h", "compiler.h"))
        everything = [*self.whole.constants, *self.whole.enums, self.whole.status, *self.whole.structs, *self.whole.callbacks, *self.whole.functions, *self.whole.inline]
        self.page_of = {one["name"]: self.file(one) for one in everything}
        self.groups = list(dict.fromkeys((one["header"], one["group"]) for one in everything))
        self.everything = everything

    @staticmethod
    def file(one):
        prefix = "cuda-" if one["header"] == "cuda.h" else ""
        return prefix + one["group"].lower().replace(" ", "-") + ".html"

    def link(self, name):
        return f'<a href="{self.page_of[name]}#{name}"><code>{name}</code></a>' if name in self.page_of else f"<code>{name}</code>"

    def text(self, words):
        plain = html.escape(words, quote=False)
        return re.sub(r"\b(?:rnnp_\w+|RNNP_\w+)\b", lambda m: self.link(m.group(0)) if m.group(0) in self.page_of else m.group(0), plain)

    def function(self, one):
        parameters = ", ".join(abi.c_type(p["type"], p["name"]) for p in one["parameters"]) or "void"
        rows = [(f"<code>{p['name']}</code>", p["direction"], html.escape(p.get("bytes", "")), p.get("until", ""), p.get("null", ""))
                for p in one["parameters"]]
        declared = abi.c_type(one["returns"], one["name"]) if "inline" in one else f"typedef {abi.c_type(one['returns'])} (*{one['name']})"
        body = f"<pre>{html.escape(declared)}({html.escape(parameters)});</pre>\n<pre>{self.text(one['text'])}</pre>\n"
        return body + (table(("parameter", "direction", "bytes", "stays until the end of", "may be NULL"), rows) if rows else "")

    def struct(self, one):
        rows = [(html.escape(abi.c_type(m["type"], m["name"]) + (f"[{m['count']}]" if "count" in m else "")), m["offset"]["64"], m["offset"]["32"],
                 self.text(m.get("text", ""))) for m in one["members"]]
        return f"<pre>{self.text(one['text'])}</pre>\n" + table(("member", "offset, 64 bits", "32 bits", ""), rows)

    def values(self, one):
        return f"<pre>{self.text(one['text'])}</pre>\n" + table(("name", "value", ""), [(f"<code>{v['name']}</code>", v["value"], self.text(v["text"])) for v in one["values"]])

    def section(self, one):
        name = one["name"]
        kind = self.function if "parameters" in one else self.struct if "members" in one else self.values
        return f'<h2 id="{name}"><code>{name}</code></h2>\n' + kind(one)

    def group(self, header, group):
        inside = [one for one in self.everything if (one["header"], one["group"]) == (header, group)]
        constants = [one for one in inside if "value" in one]
        body = "".join(self.section(one) for one in inside if "value" not in one)
        if constants:
            rows = [(f'<code id="{one["name"]}">{one["name"]}</code>', one["value"], self.text(one["text"])) for one in constants]
            body += "<h2>Constants</h2>\n" + table(("name", "value", ""), rows)
        return self.page(f"{group} ({header})", body)

    def page(self, title, body):
        links = "".join(f'<a href="{self.file({"header": h, "group": g})}">{("CUDA: " if h == "cuda.h" else "") + g}</a>\n' for h, g in self.groups)
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n<title>rnnpack: {title}'
                f'</title><style>{STYLE}</style></head>\n<body><nav><a href="index.html">rnnpack</a>{links}</nav>\n<main><h1>{title}</h1>\n{body}</main></body></html>\n')

    def index(self):
        body = ""
        for header, rules in self.whole.rules.items():
            if rules:
                body += f"<h2>Rules of all functions of {header}</h2>\n" + table(("", ""), [(r["name"], self.text(r["text"])) for r in rules])
        names = sorted(one["name"] for one in self.everything if "parameters" in one or "members" in one)
        return self.page("API reference", body + "<h2>Functions and structs</h2>\n<ul>" + "".join(f"<li>{self.link(name)}</li>\n" for name in names) + "</ul>\n")


def pages():
    made = Pages()
    return {"index.html": made.index(), **{made.file({"header": h, "group": g}): made.group(h, g) for h, g in made.groups}}
