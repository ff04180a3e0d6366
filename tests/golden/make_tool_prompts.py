"""Prompts of conversations with tools and calls, as jinja2 renders them with transformers' settings from what templates
are given, into tool_prompts.json.

    make_tool_prompts.py

The templates are written for this test; each writes calls in the syntax of a published family. Needs jinja2.
"""

import json
import pathlib

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

CHATML = "{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
BEGIN = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
SHOW = "{% if tools %}{{ '<|im_start|>system\\n' }}{% for t in tools %}{{ t | tojson }}{{ '\\n' }}{% endfor %}{{ '<|im_end|>\\n' }}{% endif %}"


def chatml(calls):
    return (SHOW + "{% for m in messages %}{% if m.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + m.content"
            " + '\\n</tool_response><|im_end|>\\n' }}{% else %}" + CHATML + "{% if m.tool_calls %}" + calls
            + "{% endif %}{{ '<|im_end|>\\n' }}{% endif %}{% endfor %}" + BEGIN)


NINE = "{% if c.id is not defined or c.id | length != 9 %}{{ raise_exception('ids have nine characters') }}{% endif %}"
TEMPLATES = {
    "hermes": chatml("{% for c in m.tool_calls %}{{ '\\n<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' + "
                     "(c.function.arguments | tojson) + '}\\n</tool_call>' }}{% endfor %}"),
    "qwen_xml": chatml("{% for c in m.tool_calls %}{{ '\\n<tool_call>\\n<function=' + c.function.name + '>\\n' }}"
                       "{% for k, v in c.function.arguments | items %}{{ '<parameter=' + k + '>\\n' + (v if v is string else v | tojson)"
                       " + '\\n</parameter>\\n' }}{% endfor %}{{ '</function>\\n</tool_call>' }}{% endfor %}"),
    "mistral_list": "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{% if tools and loop.last %}"
                    "{{ '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{% endif %}{{ '[INST]' + m.content + '[/INST]' }}"
                    "{% elif m.tool_calls %}{{ '[TOOL_CALLS][' }}{% for c in m.tool_calls %}" + NINE +
                    "{{ (c.function | tojson)[:-1] + ', \"id\": \"' + c.id + '\"}' }}{% if not loop.last %}{{ ', ' }}{% endif %}"
                    "{% endfor %}{{ ']</s>' }}{% elif m.role == 'tool' %}{{ '[TOOL_RESULTS]' + m.content + '|' + m.tool_call_id"
                    " + '[/TOOL_RESULTS]' }}{% else %}{{ m.content + '</s>' }}{% endif %}{% endfor %}",
    "mistral_name": "{{ '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' if tools else '' }}{% for m in messages %}"
                    "{% if m.role == 'user' %}{{ '[INST]' + m.content + '[/INST]' }}{% elif m.role == 'tool' %}"
                    "{{ '[TOOL_RESULTS]' + m.content + '[/TOOL_RESULTS]' }}{% else %}{{ m.content }}{% for c in m.tool_calls or [] %}" + NINE
                    + "{{ '[TOOL_CALLS]' + c.function.name + '[ARGS]' + (c.function.arguments | tojson) }}{% endfor %}{{ '</s>' }}{% endif %}{% endfor %}",
    "llama": SHOW + "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}"
             "{{ raise_exception('one call at once') }}{% endif %}{% set f = m.tool_calls[0].function %}"
             "{{ '<|im_start|>assistant\\n{\"name\": \"' + f.name + '\", \"parameters\": ' + (f.arguments | tojson) + '}<|im_end|>' }}"
             "{% elif m.role == 'tool' %}{{ '<|im_start|>ipython\\n' + (m.content | tojson) + '<|im_end|>' }}{% else %}"
             + CHATML + "{{ '<|im_end|>' }}{% endif %}{% endfor %}" + BEGIN,
    "gemma": "{% macro value(v) %}{% if v is string %}{{ '<|\"|>' + v + '<|\"|>' }}{% else %}{{ v | tojson }}{% endif %}{% endmacro %}"
             "{% if tools %}{{ '<|tool>' }}{% for t in tools %}{{ t.function.name }}{% endfor %}{{ '<tool|>' }}{% endif %}"
             "{% for m in messages %}{% if m.role != 'tool' %}{{ '<|turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' }}"
             "{% for c in m.tool_calls or [] %}{{ '<|tool_call>call:' + c.function.name + '{' }}"
             "{% for k, v in c.function.arguments | dictsort %}{{ k + ':' }}{{ value(v) }}{% if not loop.last %},{% endif %}{% endfor %}"
             "{{ '}<tool_call|>' }}{% endfor %}{{ m.content + '<turn|>\\n' }}{% else %}{{ '<|tool_response>response:' + m.name + '{value:' }}"
             "{{ value(m.content) }}{{ '}<tool_response|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|turn>model\\n' }}{% endif %}",
    "harmony": "{% if tools %}{{ '<|start|>developer<|message|># Tools' }}{% for t in tools %}{{ ' ' + t.function.name }}{% endfor %}"
               "{{ '<|end|>' }}{% endif %}{% set last = namespace(name=none) %}{% for m in messages %}{% if m.role == 'assistant' %}"
               "{% if 'tool_calls' in m %}{% if m.content and m.thinking %}{{ raise_exception('content and thinking') }}{% endif %}"
               "{% if m.thinking %}{{ '<|start|>assistant<|channel|>analysis<|message|>' + m.thinking + '<|end|>' }}{% endif %}"
               "{% set c = m.tool_calls[0].function %}{{ '<|start|>assistant to=functions.' + c.name + '<|channel|>commentary json<|message|>' "
               "+ (c.arguments | tojson) + '<|call|>' }}{% set last.name = c.name %}{% else %}"
               "{{ '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}{% endif %}{% elif m.role == 'tool' %}"
               "{{ '<|start|>functions.' + last.name + ' to=assistant<|channel|>commentary<|message|>' + (m.content | tojson) + '<|end|>' }}"
               "{% else %}{{ '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}"
               "{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}",
}

TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Größe & <b> \"x\" <|im_end|>", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "now"}},
]
ROME = {"city": "Rom <|im_end|>\n\"ä\"", "days": 2}


def ours(name, arguments, more=""):
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return "<tool_call>\n" + (body[:-1] + more + "}" if more else body) + "\n</tool_call>"


def call(name, arguments, id):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def conversations(style):
    """Pairs: as we keep them, and as the template is given them."""
    user = {"role": "user", "content": "Weather?"}
    yield "the question", [user], [user]
    first = "abcdefghi" if "mistral" not in style else "call00000"
    yield "a call and its answer", [
        user, {"role": "assistant", "content": ours("weather", ROME)},
        {"role": "tool", "content": "20 °C", "id": "" if "mistral" in style else first, "name": ""}, user,
    ], [
        user, {"role": "assistant", "content": "", "tool_calls": [call("weather", ROME, first)]},
        {"role": "tool", "content": "20 °C", "tool_call_id": first, "name": "weather"}, user,
    ]
    long = "call_0123456789"
    kept = "call00000" if "mistral" in style else long
    yield "an id of the client's", [
        user, {"role": "assistant", "content": "I look.\n\n" + ours("weather", ROME, ', "id": "' + long + '"')},
        {"role": "tool", "content": "20", "id": long, "name": "weather"}, user,
    ], [
        user, {"role": "assistant", "content": "I look.", "tool_calls": [call("weather", ROME, kept)]},
        {"role": "tool", "content": "20", "tool_call_id": kept, "name": "weather"}, user,
    ]
    both = [user, {"role": "assistant", "content": ours("weather", ROME) + "\n" + ours("now", {})},
            {"role": "tool", "content": "noon", "id": "2ndcall00", "name": "now"},
            {"role": "tool", "content": "20", "id": "", "name": ""}, user]
    # The first answer takes the first call that has no id: the order tells.
    one, two = call("weather", ROME, "2ndcall00"), call("now", {}, "call00000")
    answers = [{"role": "tool", "content": "noon", "tool_call_id": "2ndcall00", "name": "now"},
               {"role": "tool", "content": "20", "tool_call_id": "call00000", "name": "now"}]
    if style in ("llama", "harmony"):
        yield "two calls", both, [user, {"role": "assistant", "content": "", "tool_calls": [one]}, answers[0],
                                  {"role": "assistant", "content": "", "tool_calls": [two]}, answers[1], user]
    else:
        yield "two calls", both, [user, {"role": "assistant", "content": "", "tool_calls": [one, two]}, *answers, user]
    wrong = "<tool_call>\n{\"name\": \"weather\", \"arguments\": \n</tool_call>"
    yield "a call that is none", [user, {"role": "assistant", "content": wrong}, user], \
        [user, {"role": "assistant", "content": wrong}, user]
    if style == "harmony":
        yield "thoughts", [user, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nI look.\n" + ours("now", {})},
                           {"role": "tool", "content": "noon", "id": "", "name": ""}], \
            [user, {"role": "assistant", "content": "", "thinking": "hm\n\nI look.", "tool_calls": [call("now", {}, "call00000")]},
             {"role": "tool", "content": "noon", "tool_call_id": "call00000", "name": "now"}]


def environment():
    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    return environment


def main():
    cases = []
    for style, source in TEMPLATES.items():
        template = environment().from_string(source)
        for name, kept, given in conversations(style):
            text = template.render(messages=given, tools=TOOLS, documents=None, add_generation_prompt=True,
                                   bos_token="<|endoftext|>", eos_token="<|im_end|>")
            cases.append({"name": f"{style}: {name}", "template": style, "messages": kept, "text": text})
    content = {"templates": TEMPLATES, "tools": TOOLS, "cases": cases}
    path = pathlib.Path(__file__).parent / "tool_prompts.json"
    path.write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
