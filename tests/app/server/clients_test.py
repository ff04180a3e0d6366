"""Clients from the Python package index against fovea serve, unchanged but for its address.

clients_test.py FOVEA MODEL PACKAGES plain|forms

MODEL is a folder with a tiny chat model; PACKAGES is where scripts/setup.sh has put the clients (exit code 77 where it has
not). plain: conversations, streams, errors as the clients' own exceptions, cancellation, 16 at once. forms: what answers
are held to, schemas and calls of functions, and log-probabilities. Each check is a function below; the last line says
how many there were, and how many failed.
"""
import concurrent.futures
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

PROGRAM, MODEL, PACKAGES, PART = sys.argv[1:5]
if not os.path.exists(os.path.join(PACKAGES, "complete")):
    print("the clients are not there: scripts/setup.sh, install_clients")
    sys.exit(77)
sys.path.insert(0, PACKAGES)
FOLDER = tempfile.mkdtemp()
# Nothing but this server is asked, and no client looks into the user's own settings.
os.environ.update(HOME=FOLDER, LLM_USER_PATH=os.path.join(FOLDER, "llm"), LITELLM_LOCAL_MODEL_COST_MAP="True",
                  OPENAI_API_KEY="none", no_proxy="*")
for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
    os.environ.pop(name, None)

import anthropic  # noqa: E402
import langchain_openai  # noqa: E402
import litellm  # noqa: E402
import llm  # noqa: E402
import ollama  # noqa: E402
import openai  # noqa: E402

litellm.suppress_debug_info = True
KEY = "a-key-of-the-tests-0123456789"
MESSAGES = [{"role": "user", "content": "Hello, who are you?"}]
LONG = [{"role": "user", "content": "word " * 2000}]
LOOK = {"name": "look", "description": "Looks at a place",
        "parameters": {"type": "object", "properties": {"at": {"type": "string", "maxLength": 8}},
                       "required": ["at"], "additionalProperties": False}}
TOOLS = [{"type": "function", "function": LOOK}]
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 99}, "fine": {"type": "boolean"}},
          "required": ["age", "fine"], "additionalProperties": False}

# The tiny model's own knows no tools.
TEMPLATE = """{%- if tools %}{{ tools | tojson }}{% endif -%}
{%- for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for call in m.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@contextlib.contextmanager
def served(*arguments):
    data = tempfile.mkdtemp(dir=FOLDER)
    shutil.copytree(MODEL, os.path.join(data, "models", "tiny"))
    if PART == "forms":
        with open(os.path.join(data, "models", "tiny", "chat_template.jinja"), "w") as template:
            template.write(TEMPLATE)
    server = subprocess.Popen([PROGRAM, "serve", "tiny", "--port", "0", "--json", "--context", "512", "--threads", "2", *arguments],
                              stdout=subprocess.PIPE, text=True, env={**os.environ, "FOVEA_DATA": data})
    try:
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.send_signal(signal.SIGINT)
        code = server.wait()
        assert code == 0, f"the server ended with {code}"


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def slots_are_free(url):
    for _ in range(2400):
        slots = json.load(urllib.request.urlopen(url + "/slots"))
        if not any(slot["is_processing"] for slot in slots):
            return True
        time.sleep(0.1)
    return False


def openai_client(url, key="none"):
    return openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)


def plain_openai_chat(url):
    client = openai_client(url)
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").id == "tiny"
    ask = dict(model="tiny", messages=MESSAGES, temperature=0, max_tokens=24, seed=1)
    answer = client.chat.completions.create(**ask)
    assert answer.usage.completion_tokens <= 24 and answer.usage.prompt_tokens > 0
    chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == answer.choices[0].message.content, (text, answer)
    assert chunks[-1].usage.completion_tokens == answer.usage.completion_tokens
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == answer.choices[0].finish_reason
    two = client.chat.completions.create(model="tiny", messages=MESSAGES, n=2, max_tokens=4, temperature=1.5, seed=3)
    again = client.chat.completions.create(model="tiny", messages=MESSAGES, n=2, max_tokens=4, temperature=1.5, seed=3)
    assert len(two.choices) == 2
    assert [c.message.content for c in two.choices] == [c.message.content for c in again.choices]


def plain_openai_completions(url):
    client = openai_client(url)
    answer = client.completions.create(model="tiny", prompt="Once upon", max_tokens=8, temperature=0)
    pieces = client.completions.create(model="tiny", prompt="Once upon", max_tokens=8, temperature=0, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == answer.choices[0].text


def plain_openai_responses(url):
    client = openai_client(url)
    ask = dict(model="tiny", input="Hello, who are you?", temperature=0, max_output_tokens=24)
    answer = client.responses.create(**ask, instructions="Be short.")
    assert answer.status in ("completed", "incomplete") and answer.usage.output_tokens <= 24
    events = list(client.responses.create(**ask, instructions="Be short.", stream=True))
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == answer.output_text
    assert events[-1].response.output_text == answer.output_text
    assert [e.sequence_number for e in events] == list(range(len(events)))
    follow = client.responses.create(**{**ask, "input": "And?"}, previous_response_id=answer.id)
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    [item] = client.responses.input_items.list(follow.id)
    assert item.role == "user" and item.content[0].text == "And?"
    client.responses.delete(follow.id)
    raises(openai.NotFoundError, lambda: client.responses.retrieve(follow.id))
    assert follow.usage.input_tokens > answer.usage.input_tokens
    raises(openai.NotFoundError, lambda: client.responses.create(**ask, previous_response_id="resp_none"))
    raises(openai.BadRequestError, lambda: client.responses.create(**ask, background=True))


def known_embeddings():
    with open(os.path.join(MODEL, os.pardir, "embeddings.json")) as file:
        known = [entry for entry in json.load(file) if "text" in entry]
    units = []
    for entry in known:
        units.append([value / math.hypot(*entry["mean"]) for value in entry["mean"]])
    return known, units


# The server's cache holds keys and values in 16 bits.
def are_near(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        difference = max(abs(a - b) for a, b in zip(one, other))
        assert len(one) == len(other) and difference < 5e-4, difference


# What transformers says of the texts, with the length 1.
def plain_embeddings(url):
    known, units = known_embeddings()
    texts, tokens = [entry["text"] for entry in known], [entry["tokens"] for entry in known]
    raises(AssertionError, lambda: are_near(units[:1], units[1:2]))
    client = openai_client(url)
    for wish in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}, {"dimensions": len(units[0])}):
        made = client.embeddings.create(model="tiny", input=texts, **wish)
        if wish.get("encoding_format") != "base64":
            are_near([each.embedding for each in made.data], units)
        assert made.usage.prompt_tokens == sum(map(len, tokens))
    are_near([each.embedding for each in client.embeddings.create(model="tiny", input=tokens).data], units)
    are_near([client.embeddings.create(model="tiny", input=texts[1]).data[0].embedding], units[1:2])
    error = raises(openai.BadRequestError, lambda: client.embeddings.create(model="tiny", input="a", dimensions=7))
    assert error.param == "dimensions"
    error = raises(openai.BadRequestError, lambda: client.embeddings.create(model="tiny", input="word " * 2000))
    assert error.code == "context_length_exceeded" and error.param == "input"

    client = ollama.Client(host=url)
    are_near(client.embed(model="tiny", input=texts).embeddings, units)
    older, length = client.embeddings(model="tiny", prompt=texts[0]).embedding, math.hypot(*known[0]["mean"])
    assert length > 1.5
    are_near([[value / length for value in older]], units[:1])
    assert client.embed(model="tiny", input="word " * 2000).prompt_eval_count == 512
    raises(ollama.ResponseError, lambda: client.embed(model="tiny", input="word " * 2000, truncate=False))

    made = litellm.embedding(model="openai/tiny", api_base=url + "/v1", api_key="none", input=texts)
    are_near([each["embedding"] for each in made.data], units)
    # It counts tokens with OpenAI's tokeniser, unless told not to.
    model = langchain_openai.OpenAIEmbeddings(base_url=url + "/v1", api_key="none", model="tiny",
                                              check_embedding_ctx_length=False)
    are_near(model.embed_documents(texts), units)
    are_near([model.embed_query(texts[0])], units[:1])


def plain_embeddings_beside_answers(url):
    known, units = known_embeddings()
    client = openai_client(url)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(client.chat.completions.create, model="tiny", messages=MESSAGES, max_tokens=64, n=2,
                               temperature=1, seed=5) for _ in range(4)]
        made = [pool.submit(client.embeddings.create, model="tiny", input=[entry["text"] for entry in known] * 20)
                for _ in range(4)]
        for each in made:
            are_near([one.embedding for one in each.result().data], units * 20)
        assert len({tuple(choice.message.content for choice in answer.result().choices) for answer in answers}) == 1


def plain_openai_errors(url):
    client = openai_client(url)
    create = client.chat.completions.create
    error = raises(openai.NotFoundError, lambda: create(model="gpt-4", messages=MESSAGES))
    assert error.code == "model_not_found" and "tiny" in str(error)
    error = raises(openai.BadRequestError, lambda: create(model="tiny", messages=LONG))
    assert error.code == "context_length_exceeded"
    error = raises(openai.BadRequestError, lambda: create(model="tiny", messages=LONG, stream=True))
    assert error.code == "context_length_exceeded"
    error = raises(openai.BadRequestError, lambda: create(model="tiny", messages=MESSAGES, logit_bias={"1": 5}))
    assert error.param == "logit_bias"
    with served("--api-key-file", key_file()) as locked:
        raises(openai.AuthenticationError, lambda: openai_client(locked).models.list())
        assert openai_client(locked, KEY).models.list().data
        raises(anthropic.AuthenticationError,
               lambda: anthropic_client(locked).messages.create(model="tiny", max_tokens=1, messages=MESSAGES))


def key_file():
    path = os.path.join(FOLDER, "key")
    with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(KEY)
    return path


def plain_openai_cancellation(url):
    client = openai_client(url)
    for _ in range(3):
        stream = client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True, temperature=1, seed=7,
                                                extra_body={"min_p": 0, "top_k": 0})
        next(iter(stream))
        stream.close()
    assert slots_are_free(url)


def plain_sixteen_at_once(url):
    client = openai_client(url)

    def ask(number):
        answer = client.chat.completions.create(model="tiny", temperature=0, max_tokens=16,
                                                messages=[{"role": "user", "content": f"Number {number % 4}"}])
        return answer.choices[0].message.content

    alone = [ask(number) for number in range(4)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        together = list(pool.map(ask, range(16)))
    assert together == alone * 4, (together, alone)


def anthropic_client(url):
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def plain_anthropic(url):
    client = anthropic_client(url)
    ask = dict(model="tiny", max_tokens=24, messages=MESSAGES, system="Be short.", extra_body={"temperature": 0})
    answer = client.messages.create(**ask)
    with client.messages.stream(**ask) as stream:
        text = "".join(stream.text_stream)
        whole = stream.get_final_message()
    assert text == "".join(block.text for block in answer.content)
    assert whole.stop_reason == answer.stop_reason and whole.usage.output_tokens == answer.usage.output_tokens
    assert client.messages.count_tokens(model="tiny", messages=MESSAGES).input_tokens > 0
    raises(anthropic.NotFoundError, lambda: client.messages.create(model="claude", max_tokens=1, messages=MESSAGES))
    error = raises(anthropic.BadRequestError, lambda: client.messages.create(model="tiny", max_tokens=1, messages=LONG))
    assert "prompt is too long" in str(error)


def plain_ollama(url):
    client = ollama.Client(host=url)
    options = {"temperature": 0, "num_predict": 24}
    assert [model.model for model in client.list().models] == ["tiny"]
    assert client.show("tiny").modelinfo
    answer = client.chat(model="tiny", messages=MESSAGES, options=options)
    pieces = list(client.chat(model="tiny:latest", messages=MESSAGES, options=options, stream=True))
    assert "".join(piece.message.content for piece in pieces) == answer.message.content
    assert pieces[-1].done and pieces[-1].eval_count == answer.eval_count
    made = client.generate(model="tiny", prompt=MESSAGES[0]["content"], options=options)
    assert made.response == answer.message.content
    assert [model.model for model in client.ps().models] == ["tiny"]
    assert raises(ollama.ResponseError, lambda: client.chat(model="llama3", messages=MESSAGES)).status_code == 404
    assert "mirostat" in str(raises(ollama.ResponseError,
                                    lambda: client.chat(model="tiny", messages=MESSAGES, options={"mirostat": 2})))


def plain_litellm(url):
    ask = dict(messages=MESSAGES, temperature=0, max_tokens=16, num_retries=0)
    texts = []
    for model, base in (("openai/tiny", url + "/v1"), ("anthropic/tiny", url), ("ollama_chat/tiny", url)):
        answer = litellm.completion(model=model, api_base=base, api_key="none", **ask)
        pieces = litellm.completion(model=model, api_base=base, api_key="none", stream=True, **ask)
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces)
        assert text == answer.choices[0].message.content, (model, text, answer)
        texts.append(text)
    assert len(set(texts)) == 1, texts
    with_model = lambda model, messages: litellm.completion(model=model, api_base=url + "/v1", api_key="none",  # noqa: E731
                                                            messages=messages, num_retries=0)
    raises(litellm.NotFoundError, lambda: with_model("openai/other", MESSAGES))
    raises(litellm.ContextWindowExceededError, lambda: with_model("openai/tiny", LONG))


def plain_llm(url):
    folder = os.environ["LLM_USER_PATH"]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        file.write(f"- model_id: tiny\n  model_name: tiny\n  api_base: {url}/v1\n")
    model = llm.get_model("tiny")
    model.key = "none"
    whole = model.prompt("Hello", stream=False, temperature=0, max_tokens=16).text()
    pieces = list(model.prompt("Hello", stream=True, temperature=0, max_tokens=16))
    assert "".join(pieces) == whole


def chain(url, **settings):
    return langchain_openai.ChatOpenAI(base_url=url + "/v1", api_key="none", model="tiny", temperature=0, max_retries=0,
                                       **settings)


def plain_langchain(url):
    model = chain(url, max_tokens=16)
    answer = model.invoke("Hello")
    assert "".join(piece.content for piece in model.stream("Hello")) == answer.content
    assert answer.usage_metadata["output_tokens"] <= 16
    raises(openai.BadRequestError, lambda: model.invoke(LONG[0]["content"]))


def forms_openai_schema(url):
    client = openai_client(url)
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    for stream in (False, True):
        answer = client.chat.completions.create(model="tiny", messages=MESSAGES, response_format=form, stream=stream)
        text = "".join(c.choices[0].delta.content or "" for c in answer) if stream else answer.choices[0].message.content
        person = json.loads(text)
        assert set(person) == {"age", "fine"} and 0 <= person["age"] <= 99 and isinstance(person["fine"], bool)


def forms_openai_json(url):
    answer = openai_client(url).chat.completions.create(model="tiny", messages=MESSAGES, max_tokens=200,
                                                        response_format={"type": "json_object"})
    assert isinstance(json.loads(answer.choices[0].message.content), dict)


def forms_openai_refuses_schema(url):
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "unevaluatedItems": False}}}
    error = raises(openai.BadRequestError, lambda: openai_client(url).chat.completions.create(
        model="tiny", messages=MESSAGES, response_format=form))
    assert "unevaluatedItems" in str(error)


def forms_openai_tools(url):
    client = openai_client(url)
    ask = dict(model="tiny", messages=MESSAGES, tools=TOOLS, tool_choice="required", parallel_tool_calls=False, temperature=0)
    answer = client.chat.completions.create(**ask)
    assert answer.choices[0].finish_reason == "tool_calls"
    [call] = answer.choices[0].message.tool_calls
    assert call.function.name == "look" and isinstance(json.loads(call.function.arguments)["at"], str)
    arguments, names = "", []
    for chunk in client.chat.completions.create(**ask, stream=True):
        for piece in chunk.choices[0].delta.tool_calls or []:
            names += [piece.function.name] if piece.function.name else []
            arguments += piece.function.arguments or ""
    assert names == ["look"] and json.loads(arguments) == json.loads(call.function.arguments)
    result = {"role": "tool", "tool_call_id": call.id, "content": "a cat"}
    follow = client.chat.completions.create(model="tiny", max_tokens=8, tools=TOOLS, tool_choice="none",
                                            messages=MESSAGES + [answer.choices[0].message, result])
    assert follow.choices[0].message.tool_calls is None


def forms_openai_logprobs(url):
    answer = openai_client(url).chat.completions.create(model="tiny", messages=MESSAGES, max_tokens=5, temperature=0,
                                                        logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert len(content) == answer.usage.completion_tokens
    for token in content:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
        assert token.token == token.top_logprobs[0].token  # greedy
    chunks = list(openai_client(url).chat.completions.create(model="tiny", messages=MESSAGES, max_tokens=5, temperature=0,
                                                             logprobs=True, top_logprobs=3, stream=True))
    pieces = [chunk.choices[0].logprobs.content for chunk in chunks if chunk.choices[0].logprobs]
    assert [token for piece in pieces for token in piece] == content
    older = dict(model="tiny", prompt="Once upon", max_tokens=8, temperature=0, logprobs=2)
    whole = openai_client(url).completions.create(**older).choices[0].logprobs
    chunks = [chunk.choices[0].logprobs for chunk in openai_client(url).completions.create(**older, stream=True)]
    for column in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        assert [value for each in chunks if each for value in getattr(each, column)] == getattr(whole, column)


def forms_anthropic_tools(url):
    client = anthropic_client(url)
    tool = {"name": "look", "description": LOOK["description"], "input_schema": LOOK["parameters"]}
    ask = dict(model="tiny", max_tokens=100, messages=MESSAGES, tools=[tool], tool_choice={"type": "tool", "name": "look"})
    answer = client.messages.create(**ask)
    assert answer.stop_reason == "tool_use" and answer.content[-1].name == "look" and "at" in answer.content[-1].input
    with client.messages.stream(**ask) as stream:
        assert "at" in stream.get_final_message().content[-1].input


def forms_ollama(url):
    client = ollama.Client(host=url)
    answer = client.chat(model="tiny", messages=MESSAGES, format=SCHEMA)
    assert set(json.loads(answer.message.content)) == {"age", "fine"}


def forms_litellm(url):
    answer = litellm.completion(model="openai/tiny", api_base=url + "/v1", api_key="none", messages=MESSAGES, tools=TOOLS,
                                tool_choice="required", num_retries=0)
    assert answer.choices[0].message.tool_calls[0].function.name == "look"


def forms_langchain(url):
    answer = chain(url).bind_tools([{"type": "function", "function": LOOK}], tool_choice="required").invoke("Hello")
    assert answer.tool_calls[0]["name"] == "look"
    person = chain(url).with_structured_output({"title": "person", **SCHEMA}, method="json_schema").invoke("Hello")
    assert set(person) == {"age", "fine"}


failed = []
checks = [(name, check) for name, check in sorted(globals().items()) if name.startswith(PART + "_")]
with served() as address:
    for name, check in checks:
        try:
            check(address)
            print("passed", name, flush=True)
        except Exception:  # the next one is run all the same
            failed.append(name)
            print("FAILED", name, flush=True)
            traceback.print_exc()
    assert slots_are_free(address)
shutil.rmtree(FOLDER)
print(f"{len(checks)} checks, {len(failed)} failed: {' '.join(failed)}")
sys.exit(1 if failed or not checks else 0)
