"""Writes templates_golden.json and snippets_golden.json: what transformers' Jinja environment makes of templates and snippets.

Usage: pip install transformers==5.24.0 jinja2==3.1.6 && python golden.py, in this directory.
"""

import datetime
import itertools
import json
import pathlib

from transformers.utils import chat_template_utils

HERE = pathlib.Path(__file__).parent
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


class Clock(datetime.datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return datetime.datetime(2026, 7, 4, 9, 5, 3)


chat_template_utils.datetime = Clock


def rendered(template: str, variables: dict) -> dict:
    """The text, or that it is refused."""
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
        return {"expected": compiled.render(**variables)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def unescaped(text: str) -> str:
    """Snippets stand on one line each: there \\n is a newline and \\\\ a backslash."""
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def message(role: str, content, **more) -> dict:
    return {"role": role, "content": content, **more}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Weather "now" <b> \u00e9',
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "the city"},
                "days": {"type": ["integer", "null"], "default": 3, "x": 1e-7},
            },
            "required": ["city"],
        },
    },
}
CALL = {
    "id": "abc123def",
    "type": "function",
    "function": {"name": "get_weather", "arguments": {"city": "Z\u00fcrich", "days": 2.5, "more": [True, None]}},
}
CHATS = {
    "user": [message("user", "Hello")],
    "system": [message("system", "Be kind."), message("user", "Hello")],
    "turns": [
        message("system", "Be kind."),
        message("user", "Hello"),
        message("assistant", "Hi! "),
        message("user", " How are you?\n"),
    ],
    "unicode": [message("user", "  \U0001f600 \u00e9 \u0085 <x> & 'q' \"d\" \u00a0\n\n")],
    "thinking": [
        message("user", "1+1?"),
        message("assistant", "<think>\nhm\n</think>\n\n2"),
        message("user", "2+2?"),
        message("assistant", "<think>\nhm4\n</think>\n\n4"),
    ],
    "call": [
        message("user", "Weather?"),
        message("assistant", "", tool_calls=[CALL]),
        message("tool", '{"t": 7}', name="get_weather", tool_call_id="abc123def"),
        message("assistant", "7 degrees"),
        message("user", "thanks"),
    ],
    "two calls": [
        message("system", "Be kind."),
        message("user", "Weather?"),
        message(
            "assistant",
            "I look.",
            reasoning_content="Two cities.",
            tool_calls=[CALL, {**CALL, "id": "abc123deg", "function": {"name": "get_weather", "arguments": {}}}],
        ),
        message("tool", "warm", name="get_weather", tool_call_id="abc123def"),
        message("tool", "cold", name="get_weather", tool_call_id="abc123deg"),
    ],
    "parts": [message("user", [{"type": "text", "text": "Describe "}, {"type": "image"}])],
    "not alternating": [message("assistant", "x"), message("assistant", "y")],
}
VARIABLES = {"plain": {}, "tools": {"tools": [WEATHER]}, "not thinking": {"enable_thinking": False}}

templates = []
for path, (chat, messages), (kind, variables), prompt in itertools.product(
    sorted(HERE.glob("*.jinja")), CHATS.items(), VARIABLES.items(), (True, False)
):
    if kind != "plain" and not prompt:
        continue
    given = {"tools": None, "documents": None, **variables, "messages": messages, "add_generation_prompt": prompt}
    templates.append(
        {
            "template": path.name,
            "case": f"{chat}, {kind}, {'with' if prompt else 'without'} prompt",
            "variables": given,
            **rendered(path.read_text(), given | SPECIAL),
        }
    )
(HERE / "templates_golden.json").write_text(json.dumps(templates, ensure_ascii=True, indent=0) + "\n")

VALUES = {
    "word": "Hello wOrld",
    "text": "  a b  c\n",
    "wide": "\U0001f600\u00e9x",
    "numbers": [3, 1, 2],
    "real": 2.5,
    "map": {"b": 1, "a": {"c": [1, 2.0, None, True, "x'y"]}},
    "rows": [{"n": "x", "v": 2}, {"n": "Y", "v": 1}, {"n": "x", "v": 3}],
    "nothing": None,
    "empty": "",
}
snippets = [
    {"source": source, **rendered(source, VALUES)}
    for source in unescaped((HERE / "snippets.txt").read_text()).split("\n%%\n")
]
(HERE / "snippets_golden.json").write_text(
    json.dumps({"variables": VALUES, "snippets": snippets}, ensure_ascii=True, indent=0) + "\n"
)
print(len(templates), sum("error" in t for t in templates), len(snippets), sum("error" in s for s in snippets))
