# SPDX-License-Identifier: Apache-2.0
"""A Markdown page as its reader copies from it: fenced blocks, in order, and the commands that stand in running text."""
import re
import shlex

# A comment that ends a command which only its reader runs; the reason follows.
BY_HAND = "# by hand:"
COMMAND = re.compile(r"^(make|cmake|ctest|rnnpack|(?:scripts|bench|firmware|demo|models|tests|toolchains)/[\w./-]+\.(?:py|sh)|build[\w-]*/[\w./-]+)(?= |$)")


class Block:
    def __init__(self, page, line, language, text, before):
        self.page, self.line, self.language, self.text = page, line, language, text
        # "Paste this as `stream.c`": the name of the file that the page says this is.
        names = re.findall(r"as\s+`([\w.-]+\.c)`", before)
        self.file_name = names[-1] if names else None

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks(page, text):
    """Fenced blocks of a page; `before` is the paragraph above each."""
    found, paragraph, lines = [], [], text.splitlines()
    at = 0
    while at < len(lines):
        fence = re.match(r"```(\w*)\s*$", lines[at])
        if not fence:
            paragraph = paragraph + [lines[at]] if lines[at].strip() or not paragraph or lines[at + 1:at + 2] and lines[at + 1].startswith("```") else []
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
        found.append(Block(page, at + 2, fence.group(1), "\n".join(lines[at + 1:end]) + "\n", "\n".join(paragraph)))
        paragraph, at = [], end + 1
    return found


def prose(text):
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def inline_commands(text):
    """What stands in `...` and begins like a command of this project."""
    spans = re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", prose(text))
    return [" ".join(span.split()) for span in spans if COMMAND.match(span)]


def indented_commands(text):
    """Commands that a reader would copy but no fence holds."""
    return [line for line in prose(text).splitlines() if line.startswith("    ") and COMMAND.match(line.strip())]


def words(command):
    """Up to a comment, a pipe or another command; environment settings are left out."""
    plain = re.split(r"\s#\s|&&|\||;|>", command)[0]
    try:
        parts = shlex.split(plain)
    except ValueError:
        parts = plain.split()
    while parts and re.match(r"^[A-Z_]+=", parts[0]):
        parts = parts[1:]
    return parts
