"""Prompts of conversations with thoughts, as transformers renders them when thoughts are given as each template reads
them; and a tokeniser with the control tokens of channels.

    make_thinking.py     writes thinking/ beside this file

The templates are written for this test; each reads the fields and variables that a published family's reads. Needs
transformers 5 and tokenizers.
"""

import json
import pathlib

import transformers
from make_chat import CORPUS
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

OUT = pathlib.Path(__file__).parent / "thinking"
CHANNELS = ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>", "<|endoftext|>"]

TURN = "{{ '<|im_start|>' + m.role + '\\n' + text + '<|im_end|>\\n' }}"
BEGIN = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
OFF = "{{ '<think>\\n\\n</think>\\n\\n' }}"
TEMPLATES = {
    # Thoughts of the last answers alone, from a field or from the content; the model opens them itself.
    "field_and_content": "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}"
    "{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{% for m in messages %}{% set text = m.content %}"
    "{% if m.role == 'assistant' %}{% set thought = '' %}{% if m.reasoning_content is string %}"
    "{% set thought = m.reasoning_content %}{% elif '</think>' in text %}"
    "{% set thought = text.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}"
    "{% set text = text.split('</think>')[-1].lstrip('\\n') %}{% endif %}"
    "{% if loop.index0 > ns.last %}{% set text = '<think>\\n' + thought + '\\n</think>\\n\\n' + text %}{% endif %}"
    "{% endif %}" + TURN + "{% endfor %}" + BEGIN
    + "{% if enable_thinking is defined and enable_thinking is false %}" + OFF + "{% endif %}{% endif %}",
    # The prompt opens them, or says that there are none.
    "opened": "{% for m in messages %}{% set text = m.content %}{% if m.role == 'assistant' and m.reasoning_content %}"
    "{% set text = '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' + text %}{% endif %}" + TURN + "{% endfor %}"
    + BEGIN + "{% if enable_thinking is defined and enable_thinking is false %}" + OFF
    + "{% else %}{{ '<think>\\n' }}{% endif %}{% endif %}",
    # It always opens them, and takes earlier ones from the content.
    "content": "{% for m in messages %}{% set text = m.content %}{% if '</think>' in text %}"
    "{% set text = text.split('</think>')[-1] %}{% endif %}" + TURN + "{% endfor %}" + BEGIN
    + "{{ '<think>\\n' }}{% endif %}",
    # Off unless it is asked for; the variable has another name.
    "other_variable": "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{% for m in messages %}"
    "{% set text = m.content.split('</think>', 1)[1] if '</think>' in m.content else m.content %}" + TURN
    + "{% endfor %}" + BEGIN + "{{ '<think>' if thinking else '</think>' }}{% endif %}",
    # Any of two fields, one by get(); effort and switch in one.
    "get": "{% set ns = namespace(thinking='') %}{% for m in messages %}"
    "{% set ns.thinking = m.get('reasoning') or m.get('reasoning_content') or '' %}"
    "{% set text = '[' + ns.thinking + ']' + m.content if ns.thinking else m.content %}" + TURN + "{% endfor %}"
    + BEGIN + "{{ '(' + (reasoning_effort | default('high')) + ')' }}"
    + "{% if not enable_thinking | default(true) %}" + OFF + "{% endif %}{% endif %}",
    # It knows nothing of thoughts.
    "none": "{% for m in messages %}{% set text = m.content %}" + TURN + "{% endfor %}" + BEGIN + "{% endif %}",
    # Channels; thoughts only of an answer that the conversation ends with.
    "channels": "{%- macro head() -%}{% if reasoning_effort is not defined %}{% set reasoning_effort = 'medium' %}{% endif %}"
    "{{ 'Reasoning: ' + reasoning_effort }}{%- endmacro -%}"
    "{{ '<|start|>system<|message|>' + head() + '<|end|>' }}"
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if '<|channel|>final<|message|>' in m.content %}{{ raise_exception('no channels in the content') }}{% endif %}"
    "{% if loop.last and not add_generation_prompt and 'thinking' in m %}"
    "{{ '<|start|>assistant<|channel|>analysis<|message|>' + m.thinking + '<|end|>' }}{% endif %}"
    "{{ '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}"
    "{% else %}{{ '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}",
    # Other channels, whose prompt says that there are no thoughts; an assignment reads the switch.
    "other_channels": "{% set enable_thinking = enable_thinking | default(false) %}"
    "{% if enable_thinking %}{{ '<|turn>system\n<|think|>\n<turn|>\n' }}{% endif %}{% set ns = namespace(last=-1) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}{{ '<|turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' }}"
    "{% if m.role == 'assistant' and m.reasoning_content and loop.index0 > ns.last %}"
    "{{ '<|channel>thought\n' + m.reasoning_content + '\n<channel|>' }}{% endif %}"
    "{{ m.content + '<turn|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|turn>model\n' }}"
    "{% if not enable_thinking %}{{ '<|channel>thought\n<channel|>' }}{% endif %}{% endif %}",
}
KNOWS = {  # switch, effort
    "field_and_content": (True, False), "opened": (True, False), "content": (False, False),
    "other_variable": (True, False), "get": (True, True), "none": (False, False), "channels": (False, True),
    "other_channels": (True, False),
}
FIELD = {"field_and_content": "reasoning_content", "opened": "reasoning_content", "get": "reasoning", "channels": "thinking",
         "other_channels": "reasoning_content"}
SWITCH = {"other_variable": "thinking"}
ANSWERS = {  # as we keep them: the thoughts, the text
    "thought": ("<think>\nhm\n\nso\n</think>\n\nYes.\n", "hm\n\nso", "Yes.\n"),
    "on one line": ("<think>hm</think>Yes.", "hm", "Yes."),
    "no thoughts": ("Yes, <think> is a tag.", None, "Yes, <think> is a tag."),
    "none thought": ("<think>\n\n</think>\n\nYes.", "", "Yes."),
    "begun by a prompt": ("hm\n</think>\n\nYes.", "hm", "Yes."),
}


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=CHANNELS, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|return|>")


def given(style, kept, thoughts, text):
    """The answer as the template's publisher gives it."""
    message = {"role": "assistant", "content": text}
    if thoughts is not None and style in FIELD:
        message[FIELD[style]] = thoughts
    elif thoughts is not None and style in ("content", "other_variable"):
        message["content"] = kept
    return message


def main():
    tokenizer = make_tokenizer()
    cases = []
    for style, template in TEMPLATES.items():
        for name, (kept, thoughts, text) in ANSWERS.items():
            messages = [{"role": "user", "content": "Is it?"}, given(style, kept, thoughts, text),
                        {"role": "user", "content": "Why?"}]
            cases.append(case(tokenizer, style, name, messages, kept))
        messages = [{"role": "user", "content": "Is it?"}]
        switch, effort = KNOWS[style]
        for on in (True, False) if switch else ():
            cases.append(case(tokenizer, style, f"thinking {on}", messages, None, thinking=on))
        for how in ("low", "high") if effort else ():
            cases.append(case(tokenizer, style, f"effort {how}", messages, None, effort=how))
    OUT.mkdir(exist_ok=True)
    tokenizer.save_pretrained(OUT)
    content = {"templates": {style: {"source": source, "switch": KNOWS[style][0], "effort": KNOWS[style][1]}
                             for style, source in TEMPLATES.items()}, "cases": cases}
    (OUT / "cases.json").write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def case(tokenizer, style, name, messages, kept, thinking=None, effort=None):
    variables = {}
    if thinking is not None:
        variables[SWITCH.get(style, "enable_thinking")] = thinking
    if effort is not None:
        variables["reasoning_effort"] = effort
    text = tokenizer.apply_chat_template(messages, chat_template=TEMPLATES[style], add_generation_prompt=True,
                                         tokenize=False, **variables)
    ours = [{"role": m["role"], "content": kept if m["role"] == "assistant" else m["content"]} for m in messages]
    return {"name": f"{style}: {name}", "template": style, "messages": ours, "thinking": thinking, "effort": effort or "",
            "text": text}


if __name__ == "__main__":
    main()
