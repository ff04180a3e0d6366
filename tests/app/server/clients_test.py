"""Clients from the Python package index against fovea serve, unchanged but for its address.

clients_test.py FOVEA MODEL PACKAGES plain|forms

MODEL is a folder with a tiny chat model, or "demo": the demo model, where it was built (exit code 77 where it was not).
PACKAGES is where scripts/setup.sh has put the clients (77 likewise). plain: conversations, streams, errors as the clients'
own exceptions, cancellation, 16 at once. forms: what answers are held to, schemas and calls of functions, thoughts, and
log-probabilities, with a template that knows them. Each check is a function below; the last line says how many there were,
and how many failed.
"""
import concurrent.futures
import contextlib
import json
import math
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

PROGRAM, MODEL, PACKAGES, PART = sys.argv[1:5]
if not os.path.exists(os.path.join(PACKAGES, "complete")):
    print("the clients are not there: scripts/setup.sh, install_clients")
    sys.exit(77)
NAME = "tiny"
if MODEL == "demo":
    data = os.environ.get("FOVEA_DATA") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "fovea")
    NAME, MODEL = "demo", os.path.join(data, "models", "demo.gguf")
    if not os.path.exists(MODEL):
        print("the demo model was not built: ./scripts/demo")
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
import prometheus_client.parser  # noqa: E402

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

# Both models' own know neither tools nor thoughts. Not longer than the demo's, in whose place it is written.
TEMPLATE = """{%if tools%}{{tools|tojson}}{%endif%}{%for m in messages%}<|im_start|>{{m.role}}
{{m.content}}{%for c in m.tool_calls or[]%}
<tool_call>
{"name": "{{c.function.name}}", "arguments": {{c.function.arguments|tojson}}}
</tool_call>{%endfor%}<|im_end|>
{%endfor%}{%if add_generation_prompt%}<|im_start|>assistant
{%if enable_thinking%}<think>
{%endif%}{%endif%}"""


def copy_model(models):
    if NAME == "demo":
        copied = os.path.join(models, "demo.gguf")
        if PART == "plain":
            os.symlink(MODEL, copied)
            return
        shutil.copyfile(MODEL, copied)
        with open(copied, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
            key = b"tokenizer.chat_template"
            at = data.find(key) + len(key) + 4  # behind the key its type, the length, the text
            length = int.from_bytes(data[at:at + 8], "little")
            assert len(TEMPLATE) <= length - 4, "the demo's template is too short for this one"
            data[at + 8:at + 8 + length] = ("{#" + " " * (length - 4 - len(TEMPLATE)) + "#}" + TEMPLATE).encode()
        return
    shutil.copytree(MODEL, os.path.join(models, NAME))
    if PART == "forms":
        with open(os.path.join(models, NAME, "chat_template.jinja"), "w") as template:
            template.write(TEMPLATE)


@contextlib.contextmanager
def served(*arguments):
    data = tempfile.mkdtemp(dir=FOLDER)
    os.mkdir(os.path.join(data, "models"))
    copy_model(os.path.join(data, "models"))
    server = subprocess.Popen([PROGRAM, "serve", NAME, "--port", "0", "--json", "--context", "512", "--threads", "2", *arguments],
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
    assert [model.id for model in client.models.list()] == [NAME]
    assert client.models.retrieve(NAME).id == NAME
    ask = dict(model=NAME, messages=MESSAGES, temperature=0, max_tokens=24, seed=1)
    answer = client.chat.completions.create(**ask)
    assert answer.usage.completion_tokens <= 24 and answer.usage.prompt_tokens > 0
    chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == answer.choices[0].message.content, (text, answer)
    assert chunks[-1].usage.completion_tokens == answer.usage.completion_tokens
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == answer.choices[0].finish_reason
    two = client.chat.completions.create(model=NAME, messages=MESSAGES, n=2, max_tokens=4, temperature=1.5, seed=3)
    again = client.chat.completions.create(model=NAME, messages=MESSAGES, n=2, max_tokens=4, temperature=1.5, seed=3)
    assert len(two.choices) == 2
    assert [c.message.content for c in two.choices] == [c.message.content for c in again.choices]


def plain_openai_completions(url):
    client = openai_client(url)
    answer = client.completions.create(model=NAME, prompt="Once upon", max_tokens=8, temperature=0)
    pieces = client.completions.create(model=NAME, prompt="Once upon", max_tokens=8, temperature=0, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == answer.choices[0].text


def plain_openai_responses(url):
    client = openai_client(url)
    ask = dict(model=NAME, input="Hello, who are you?", temperature=0, max_output_tokens=24)
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
        made = client.embeddings.create(model=NAME, input=texts, **wish)
        if wish.get("encoding_format") != "base64":
            are_near([each.embedding for each in made.data], units)
        assert made.usage.prompt_tokens == sum(map(len, tokens))
    are_near([each.embedding for each in client.embeddings.create(model=NAME, input=tokens).data], units)
    are_near([client.embeddings.create(model=NAME, input=texts[1]).data[0].embedding], units[1:2])
    error = raises(openai.BadRequestError, lambda: client.embeddings.create(model=NAME, input="a", dimensions=7))
    assert error.param == "dimensions"
    error = raises(openai.BadRequestError, lambda: client.embeddings.create(model=NAME, input="word " * 2000))
    assert error.code == "context_length_exceeded" and error.param == "input"

    client = ollama.Client(host=url)
    are_near(client.embed(model=NAME, input=texts).embeddings, units)
    older, length = client.embeddings(model=NAME, prompt=texts[0]).embedding, math.hypot(*known[0]["mean"])
    assert length > 1.5
    are_near([[value / length for value in older]], units[:1])
    assert client.embed(model=NAME, input="word " * 2000).prompt_eval_count == 512
    raises(ollama.ResponseError, lambda: client.embed(model=NAME, input="word " * 2000, truncate=False))

    made = litellm.embedding(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", input=texts)
    are_near([each["embedding"] for each in made.data], units)
    # It counts tokens with OpenAI's tokeniser, unless told not to.
    model = langchain_openai.OpenAIEmbeddings(base_url=url + "/v1", api_key="none", model=NAME,
                                              check_embedding_ctx_length=False)
    are_near(model.embed_documents(texts), units)
    are_near([model.embed_query(texts[0])], units[:1])


def plain_embeddings_beside_answers(url):
    known, units = known_embeddings()
    client = openai_client(url)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(client.chat.completions.create, model=NAME, messages=MESSAGES, max_tokens=64, n=2,
                               temperature=1, seed=5) for _ in range(4)]
        made = [pool.submit(client.embeddings.create, model=NAME, input=[entry["text"] for entry in known] * 20)
                for _ in range(4)]
        for each in made:
            are_near([one.embedding for one in each.result().data], units * 20)
        assert len({tuple(choice.message.content for choice in answer.result().choices) for answer in answers}) == 1


def plain_openai_errors(url):
    client = openai_client(url)
    create = client.chat.completions.create
    error = raises(openai.NotFoundError, lambda: create(model="gpt-4", messages=MESSAGES))
    assert error.code == "model_not_found" and NAME in str(error)
    error = raises(openai.BadRequestError, lambda: create(model=NAME, messages=LONG))
    assert error.code == "context_length_exceeded"
    error = raises(openai.BadRequestError, lambda: create(model=NAME, messages=LONG, stream=True))
    assert error.code == "context_length_exceeded"
    error = raises(openai.BadRequestError, lambda: create(model=NAME, messages=MESSAGES, logit_bias={"1": 5}))
    assert error.param == "logit_bias"
    with served("--api-key-file", key_file()) as locked:
        raises(openai.AuthenticationError, lambda: openai_client(locked).models.list())
        assert openai_client(locked, KEY).models.list().data
        raises(anthropic.AuthenticationError,
               lambda: anthropic_client(locked).messages.create(model=NAME, max_tokens=1, messages=MESSAGES))


def plain_too_many_at_once(url):
    """One slot and 64 that may wait for it are kept taken: others are told to come back by the clients' own exceptions."""
    told = threading.Event()

    def press(address):
        ask = {"model": NAME, "messages": MESSAGES, "max_tokens": 400 if NAME == "tiny" else 24, "temperature": 1}
        request = urllib.request.Request(address + "/v1/chat/completions", json.dumps(ask).encode(),
                                         {"Content-Type": "application/json"})
        answers = 0
        while not told.is_set():
            try:
                with urllib.request.urlopen(request) as answer:
                    answers += bool(json.load(answer)["choices"])
            except urllib.error.HTTPError as error:
                assert error.code == 503, error
                told.wait(0.05)
        return answers

    def refused(kind, create):
        while True:
            try:
                create(model=NAME, max_tokens=1, messages=MESSAGES)
            except kind as error:
                assert error.status_code == 503, error
                return

    with served("--slots", "1") as narrow, concurrent.futures.ThreadPoolExecutor(96) as pool:
        pressed = [pool.submit(press, narrow) for _ in range(96)]
        try:
            refused(openai.InternalServerError, openai_client(narrow).chat.completions.create)
            refused(anthropic.InternalServerError, anthropic_client(narrow).messages.create)
        finally:
            told.set()
        assert sum(answers.result() for answers in pressed) >= 65, "who waits is answered"


def key_file():
    path = os.path.join(FOLDER, "key")
    with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(KEY)
    return path


def plain_openai_cancellation(url):
    client = openai_client(url)
    for _ in range(3):
        stream = client.chat.completions.create(model=NAME, messages=MESSAGES, stream=True, temperature=1, seed=7,
                                                extra_body={"min_p": 0, "top_k": 0})
        next(iter(stream))
        stream.close()
    assert slots_are_free(url)


def number(which):
    return [{"role": "user", "content": f"Number {which % 4}"}]


def say_the_same_together(ask):
    """Sixteen at once say what four say alone."""
    alone = [ask(which) for which in range(4)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        together = list(pool.map(ask, range(16)))
    assert together == alone * 4, (together, alone)


def plain_sixteen_at_once(url):
    client, own, native = openai_client(url), anthropic_client(url), ollama.Client(host=url)
    model, plain = chain(url, max_tokens=16), llm_model(url)
    few = dict(temperature=0, max_tokens=16)

    def by_openai(which):
        return client.chat.completions.create(model=NAME, messages=number(which), **few).choices[0].message.content

    def by_anthropic(which):
        answer = own.messages.create(model=NAME, max_tokens=16, messages=number(which), extra_body={"temperature": 0})
        return "".join(block.text for block in answer.content)

    def by_ollama(which):
        return native.chat(model=NAME, messages=number(which), options={"temperature": 0, "num_predict": 16}).message.content

    def by_litellm(which):
        return litellm.completion(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", messages=number(which),
                                  num_retries=0, **few).choices[0].message.content

    def by_llm(which):
        return plain.prompt(number(which)[0]["content"], stream=False, **few).text()

    def by_langchain(which):
        return model.invoke(number(which)[0]["content"]).content

    for ask in (by_openai, by_anthropic, by_ollama, by_litellm, by_llm, by_langchain):
        say_the_same_together(ask)


def endless(url):
    """A stream of each other client, of an answer that goes on for long, and how it is left. None waits for its end."""
    own, native, words = anthropic_client(url), ollama.Client(host=url), MESSAGES[0]["content"]
    warm = {"temperature": 1, "top_k": 0, "min_p": 0, "seed": 7}
    stream = own.messages.create(model=NAME, max_tokens=400, messages=MESSAGES, stream=True)
    yield iter(stream), stream.close
    pieces = native.chat(model=NAME, messages=MESSAGES, options=warm, stream=True)
    yield pieces, pieces.close
    stream = litellm.completion(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", messages=MESSAGES, stream=True,
                                temperature=1, num_retries=0)
    yield iter(stream), stream.completion_stream.close
    pieces = iter(llm_model(url).prompt(words, stream=True, temperature=1))
    yield pieces, pieces.close
    pieces = chain(url).stream(words)
    yield pieces, pieces.close


def plain_others_cancellation(url):
    for stream, leave in endless(url):
        next(stream)
        leave()
        assert slots_are_free(url)


def anthropic_client(url):
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def plain_anthropic(url):
    client = anthropic_client(url)
    ask = dict(model=NAME, max_tokens=24, messages=MESSAGES, system="Be short.", extra_body={"temperature": 0})
    answer = client.messages.create(**ask)
    with client.messages.stream(**ask) as stream:
        text = "".join(stream.text_stream)
        whole = stream.get_final_message()
    assert text == "".join(block.text for block in answer.content)
    assert whole.stop_reason == answer.stop_reason and whole.usage.output_tokens == answer.usage.output_tokens
    counted = client.messages.count_tokens(model=NAME, messages=MESSAGES, system="Be short.").input_tokens
    assert counted == answer.usage.input_tokens + (answer.usage.cache_read_input_tokens or 0), (counted, answer.usage)
    assert client.messages.count_tokens(model=NAME, messages=LONG).input_tokens > 2000
    raises(anthropic.NotFoundError, lambda: client.messages.create(model="claude", max_tokens=1, messages=MESSAGES))
    error = raises(anthropic.BadRequestError, lambda: client.messages.create(model=NAME, max_tokens=1, messages=LONG))
    assert "prompt is too long" in str(error)


def plain_ollama(url):
    client = ollama.Client(host=url)
    options = {"temperature": 0, "num_predict": 24}
    assert [model.model for model in client.list().models] == [NAME]
    assert client.show(NAME).modelinfo
    answer = client.chat(model=NAME, messages=MESSAGES, options=options)
    pieces = list(client.chat(model=f"{NAME}:latest", messages=MESSAGES, options=options, stream=True))
    assert "".join(piece.message.content for piece in pieces) == answer.message.content
    assert pieces[-1].done and pieces[-1].eval_count == answer.eval_count
    made = client.generate(model=NAME, prompt=MESSAGES[0]["content"], options=options)
    assert made.response == answer.message.content
    assert [model.model for model in client.ps().models] == [NAME]
    assert raises(ollama.ResponseError, lambda: client.chat(model="llama3", messages=MESSAGES)).status_code == 404
    assert "mirostat" in str(raises(ollama.ResponseError,
                                    lambda: client.chat(model=NAME, messages=MESSAGES, options={"mirostat": 2})))


def plain_litellm(url):
    ask = dict(messages=MESSAGES, temperature=0, max_tokens=16, num_retries=0)
    texts = []
    for model, base in ((f"openai/{NAME}", url + "/v1"), (f"anthropic/{NAME}", url), (f"ollama_chat/{NAME}", url)):
        answer = litellm.completion(model=model, api_base=base, api_key="none", **ask)
        pieces = litellm.completion(model=model, api_base=base, api_key="none", stream=True, **ask)
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces)
        assert text == answer.choices[0].message.content, (model, text, answer)
        texts.append(text)
    assert len(set(texts)) == 1, texts
    with_model = lambda model, messages: litellm.completion(model=model, api_base=url + "/v1", api_key="none",  # noqa: E731
                                                            messages=messages, num_retries=0)
    raises(litellm.NotFoundError, lambda: with_model("openai/other", MESSAGES))
    raises(litellm.ContextWindowExceededError, lambda: with_model(f"openai/{NAME}", LONG))


def llm_model(url, name=NAME):
    folder = os.environ["LLM_USER_PATH"]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        file.write("".join(f"- model_id: {each}\n  model_name: {each}\n  api_base: {url}/v1\n  supports_tools: true\n"
                           "  supports_schema: true\n" for each in (NAME, "another")))
    model = llm.get_model(name)
    model.key = "none"
    return model


def plain_llm(url):
    model = llm_model(url)
    whole = model.prompt("Hello", stream=False, temperature=0, max_tokens=16).text()
    pieces = list(model.prompt("Hello", stream=True, temperature=0, max_tokens=16))
    assert "".join(pieces) == whole
    raises(openai.NotFoundError, lambda: llm_model(url, "another").prompt("Hello", stream=False).text())
    raises(openai.BadRequestError, lambda: model.prompt(LONG[0]["content"], stream=False).text())


def chain(url, **settings):
    return langchain_openai.ChatOpenAI(base_url=url + "/v1", api_key="none", model=NAME, temperature=0, max_retries=0,
                                       **settings)


def plain_langchain(url):
    model = chain(url, max_tokens=16)
    answer = model.invoke("Hello")
    assert "".join(piece.content for piece in model.stream("Hello")) == answer.content
    assert answer.usage_metadata["output_tokens"] <= 16
    raises(openai.BadRequestError, lambda: model.invoke(LONG[0]["content"]))


# As a monitor reads it.
def plain_metrics(url):
    openai_client(url).completions.create(model=NAME, prompt="Once upon", max_tokens=8, temperature=0)
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    families = {family.name: family for family in prometheus_client.parser.text_string_to_metric_families(text)}
    assert families["llamacpp:tokens_predicted"].type == "counter"
    assert families["llamacpp:tokens_predicted"].samples[0].value >= 1
    assert families["llamacpp:requests_processing"].type == "gauge" and families["fovea:answers"].samples[0].value >= 1
    assert all(len(family.samples) == 1 and family.documentation for family in families.values())


def is_person(person):
    assert set(person) == {"age", "fine"} and 0 <= person["age"] <= 99 and isinstance(person["fine"], bool), person


def forms_openai_schema(url):
    client = openai_client(url)
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    for stream in (False, True):
        answer = client.chat.completions.create(model=NAME, messages=MESSAGES, response_format=form, stream=stream)
        text = "".join(c.choices[0].delta.content or "" for c in answer) if stream else answer.choices[0].message.content
        is_person(json.loads(text))


def forms_openai_json(url):
    answer = openai_client(url).chat.completions.create(model=NAME, messages=MESSAGES, max_tokens=200,
                                                        response_format={"type": "json_object"})
    assert isinstance(json.loads(answer.choices[0].message.content), dict)


def forms_openai_refuses_schema(url):
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "unevaluatedItems": False}}}
    error = raises(openai.BadRequestError, lambda: openai_client(url).chat.completions.create(
        model=NAME, messages=MESSAGES, response_format=form))
    assert "unevaluatedItems" in str(error)


def forms_openai_tools(url):
    client = openai_client(url)
    ask = dict(model=NAME, messages=MESSAGES, tools=TOOLS, tool_choice="required", parallel_tool_calls=False, temperature=0)
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
    follow = client.chat.completions.create(model=NAME, max_tokens=8, tools=TOOLS, tool_choice="none",
                                            messages=MESSAGES + [answer.choices[0].message, result])
    assert follow.choices[0].message.tool_calls is None


def forms_openai_logprobs(url):
    answer = openai_client(url).chat.completions.create(model=NAME, messages=MESSAGES, max_tokens=5, temperature=0,
                                                        logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert len(content) == answer.usage.completion_tokens
    for token in content:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
        assert token.token == token.top_logprobs[0].token  # greedy
    chunks = list(openai_client(url).chat.completions.create(model=NAME, messages=MESSAGES, max_tokens=5, temperature=0,
                                                             logprobs=True, top_logprobs=3, stream=True))
    pieces = [chunk.choices[0].logprobs.content for chunk in chunks if chunk.choices[0].logprobs]
    assert [token for piece in pieces for token in piece] == content
    older = dict(model=NAME, prompt="Once upon", max_tokens=8, temperature=0, logprobs=2)
    whole = openai_client(url).completions.create(**older).choices[0].logprobs
    chunks = [chunk.choices[0].logprobs for chunk in openai_client(url).completions.create(**older, stream=True)]
    for column in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        assert [value for each in chunks if each for value in getattr(each, column)] == getattr(whole, column)


def forms_openai_responses(url):
    client = openai_client(url)
    ask = dict(model=NAME, input=MESSAGES[0]["content"], tools=[{"type": "function", "strict": True, **LOOK}],
               tool_choice="required", parallel_tool_calls=False, temperature=0)
    [call] = [item for item in client.responses.create(**ask).output if item.type == "function_call"]
    assert call.name == "look" and isinstance(json.loads(call.arguments)["at"], str)
    events = list(client.responses.create(**ask, stream=True))
    assert "".join(e.delta for e in events if e.type == "response.function_call_arguments.delta") == call.arguments
    follow = client.responses.create(model=NAME, max_output_tokens=8, input=[
        {"role": "user", "content": MESSAGES[0]["content"]}, call.model_dump(include={"type", "call_id", "name", "arguments"}),
        {"type": "function_call_output", "call_id": call.call_id, "output": "a cat"}])
    assert follow.output_text is not None and follow.usage.output_tokens <= 8
    form = {"format": {"type": "json_schema", "name": "person", "schema": SCHEMA, "strict": True}}
    is_person(json.loads(client.responses.create(model=NAME, input="Who?", text=form).output_text))


# The template opens thoughts where it is asked to; the limit ends them.
def forms_thoughts(url):
    few = dict(model=NAME, messages=MESSAGES, max_tokens=24)
    client, own, native = openai_client(url), anthropic_client(url), ollama.Client(host=url)
    for effort, thinks in (("low", True), ("none", False)):
        answer = client.chat.completions.create(**few, temperature=0, reasoning_effort=effort)
        thoughts = getattr(answer.choices[0].message, "reasoning_content", None)
        assert bool(thoughts) == thinks, answer
        chunks = list(client.chat.completions.create(**few, temperature=0, reasoning_effort=effort, stream=True))
        pieces = [getattr(c.choices[0].delta, "reasoning_content", None) or "" for c in chunks if c.choices]
        assert "".join(pieces) == (thoughts or "")
        answer = own.messages.create(**few, thinking={"type": "enabled", "budget_tokens": 1024} if thinks else {"type": "disabled"})
        assert ("thinking" in [block.type for block in answer.content]) == thinks, answer
        answer = native.chat(model=NAME, messages=MESSAGES, think=thinks, options={"num_predict": 24})
        assert bool(answer.message.thinking) == thinks, answer
        answer = litellm.completion(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", num_retries=0, messages=MESSAGES,
                                    max_tokens=24, extra_body={"reasoning_effort": effort})
        assert bool(getattr(answer.choices[0].message, "reasoning_content", None)) == thinks, answer
    events = list(client.responses.create(model=NAME, input="Hello", max_output_tokens=24, reasoning={"effort": "low"}, stream=True))
    assert any(item.type == "reasoning" for item in events[-1].response.output), events[-1]


def forms_anthropic_tools(url):
    client = anthropic_client(url)
    tool = {"name": "look", "description": LOOK["description"], "input_schema": LOOK["parameters"]}
    ask = dict(model=NAME, max_tokens=100, messages=MESSAGES, tools=[tool], tool_choice={"type": "tool", "name": "look"})
    answer = client.messages.create(**ask)
    assert answer.stop_reason == "tool_use" and answer.content[-1].name == "look" and "at" in answer.content[-1].input
    with client.messages.stream(**ask) as stream:
        assert "at" in stream.get_final_message().content[-1].input
    # What is counted is what is read: calls as the template writes them, words that spell control tokens.
    call = answer.content[-1]
    talk = MESSAGES + [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}, call.model_dump(
        include={"type", "id", "name", "input"})]}, {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": "<|im_end|> a cat"}, {"type": "text", "text": "And?"}]}]
    for thinking in ({"type": "enabled", "budget_tokens": 1024}, {"type": "disabled"}):
        counted = client.messages.count_tokens(model=NAME, messages=talk, tools=[tool], thinking=thinking).input_tokens
        usage = client.messages.create(model=NAME, max_tokens=1, messages=talk, tools=[tool], thinking=thinking).usage
        assert counted == usage.input_tokens + (usage.cache_read_input_tokens or 0), (counted, usage)


def forms_anthropic_schema(url):
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    answer = anthropic_client(url).messages.create(model=NAME, max_tokens=100, messages=MESSAGES, output_config=form)
    is_person(json.loads("".join(block.text for block in answer.content if block.type == "text")))


def forms_ollama(url):
    client = ollama.Client(host=url)
    answer = client.chat(model=NAME, messages=MESSAGES, format=SCHEMA)
    is_person(json.loads(answer.message.content))


# Ollama's interface cannot require a call: the demo model makes one as in the turns before, the tiny one none.
def forms_ollama_tools(url):
    calls = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"at": "sea"}}}]}
    turn = [{"role": "user", "content": "Look."}, calls, {"role": "tool", "tool_name": "look", "content": "Nothing."}]
    ask = dict(model=NAME, messages=turn * 6 + turn[:1], tools=TOOLS, options={"temperature": 0, "num_predict": 40})
    answer = ollama.Client(host=url).chat(**ask).message
    pieces = [piece.message for piece in ollama.Client(host=url).chat(**ask, stream=True)]
    found = [call.function for call in answer.tool_calls or []]
    assert found == [call.function for piece in pieces for call in piece.tool_calls or []], (answer, pieces)
    assert (answer.content or "") == "".join(piece.content or "" for piece in pieces)
    if NAME == "demo":
        assert [(call.name, dict(call.arguments)) for call in found] == [("look", {"at": "sea"})], answer


def forms_litellm(url):
    answer = litellm.completion(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", messages=MESSAGES, tools=TOOLS,
                                tool_choice="required", num_retries=0)
    assert answer.choices[0].message.tool_calls[0].function.name == "look"
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    answer = litellm.completion(model=f"openai/{NAME}", api_base=url + "/v1", api_key="none", messages=MESSAGES, num_retries=0,
                                response_format=form)
    is_person(json.loads(answer.choices[0].message.content))


def forms_llm(url):
    model = llm_model(url)
    is_person(json.loads(model.prompt("Who?", schema=SCHEMA, stream=False).text()))

    def look(at: str) -> str:
        """Looks at a place"""
        return f"{at}: a cat"

    # It can require none: neither model makes a call by itself, but both are told of the function.
    told, untold = (model.prompt("Look.", tools=tools, stream=False, temperature=0, max_tokens=8) for tools in ([look], None))
    told.text(), untold.text()
    assert told.input_tokens > untold.input_tokens + 20, (told.input_tokens, untold.input_tokens)


def forms_langchain(url):
    answer = chain(url).bind_tools([{"type": "function", "function": LOOK}], tool_choice="required").invoke("Hello")
    assert answer.tool_calls[0]["name"] == "look"
    person = chain(url).with_structured_output({"title": "person", **SCHEMA}, method="json_schema").invoke("Hello")
    is_person(person)


failed = []
# Vectors are compared with what transformers says of the tiny model.
checks = [(name, check) for name, check in sorted(globals().items())
          if name.startswith(PART + "_") and (NAME == "tiny" or "embeddings" not in name)]
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
