"""A crowd of clients against fovea serve, of which a third misbehave.

crowd_test.py FOVEA MODEL [SECONDS]

MODEL is a folder with a tiny chat model. 32 clients ask for so many seconds (10, or FOVEA_CROWD_SECONDS): 21 of them in each
protocol, whole and streamed, greedy and with seeds; every answer must be the text that the same question got when nobody
else asked. The others cut off answers, stall in the middle of a request, never read what comes, and send rubbish and
requests with changed bytes. Then nothing may be in progress any more, and the server ends by itself when it is told to.
Of at least five minutes the second half must not need more memory than the first.
"""
import collections
import http.client
import itertools
import json
import os
import random
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM, MODEL = sys.argv[1:3]
SECONDS = float(sys.argv[3] if len(sys.argv) > 3 else os.environ.get("FOVEA_CROWD_SECONDS", "10"))
GOOD, BAD = 21, 11
GROWTH_MB = 4  # that an allocator may need more for the same
WORDS = "sea story light water music stone tree river night market doctor engine number paper winter".split()


class Failure(Exception):
    pass


# --- Those that ask as they should ------------------------------------------------------------------------------------

def messages(text):
    return [{"role": "user", "content": text}]


# (path, body)
def question(number):
    draw = random.Random(number)
    text = " ".join(draw.choices(WORDS, k=draw.randint(1, 40)))
    tokens, stream = draw.randint(4, 60), draw.random() < 0.5
    sampling = {"temperature": 0} if draw.random() < 0.5 else {"temperature": 1, "seed": number}
    kind = number % 6
    if kind == 0:
        return "/v1/chat/completions", {"messages": messages(text), "max_tokens": tokens, "stream": stream, **sampling}
    if kind == 1:
        return "/v1/completions", {"prompt": text, "max_tokens": tokens, "stream": stream, **sampling}
    if kind == 2:
        return "/v1/responses", {"input": text, "max_output_tokens": max(tokens, 16), "stream": stream, "temperature": 0}
    if kind == 3:
        return "/v1/messages", {"messages": messages(text), "max_tokens": tokens, "stream": stream, "temperature": 0}
    options = {"num_predict": tokens, **sampling}
    if kind == 4:
        return "/api/chat", {"messages": messages(text), "stream": stream, "options": options}
    return "/api/generate", {"prompt": text, "stream": stream, "options": options}


def text_of(path, reply):
    if path == "/v1/chat/completions":
        return reply["choices"][0]["message"]["content"] or ""
    if path == "/v1/completions":
        return reply["choices"][0]["text"]
    if path == "/v1/responses":
        return "".join(part["text"] for item in reply["output"] if item["type"] == "message" for part in item["content"])
    if path == "/v1/messages":
        return "".join(block["text"] for block in reply["content"] if block["type"] == "text")
    return reply["message"]["content"] if path == "/api/chat" else reply["response"]


def piece_of(path, event):
    if path == "/v1/chat/completions":
        return "".join(choice["delta"].get("content") or "" for choice in event["choices"])
    if path == "/v1/completions":
        return "".join(choice["text"] for choice in event["choices"])
    if path == "/v1/responses":
        return event["delta"] if event["type"] == "response.output_text.delta" else ""
    if path == "/v1/messages":
        return event["delta"].get("text", "") if event["type"] == "content_block_delta" else ""
    return event["message"]["content"] if path == "/api/chat" else event["response"]


def events(path, lines):
    for line in lines:
        line = line.strip()
        if path.startswith("/api/"):
            if line:
                yield json.loads(line)
        elif line.startswith(b"data: {"):
            yield json.loads(line[6:])


def answer(connection, number):
    path, body = question(number)
    connection.request("POST", path, json.dumps({"model": "tiny", **body}), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    if reply.status != 200:
        raise Failure(f"{path} was answered with {reply.status}: {reply.read()[:300]}")
    if body["stream"]:
        return "".join(piece_of(path, event) for event in events(path, reply))
    return text_of(path, json.loads(reply.read()))


def ask_on(port, client, alone, until, counts):
    draw = random.Random(1000 + client)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while time.monotonic() < until:
        number = draw.randrange(len(alone))
        text = answer(connection, number)
        if text != alone[number]:
            raise Failure(f"question {number} was answered with {text!r} and not with {alone[number]!r}")
        counts[question(number)[0]] += 1
        if draw.random() < 0.2:
            connection.close()
    connection.close()


# --- Those that do not ------------------------------------------------------------------------------------------------

def request_bytes(number, **more):
    path, body = question(number)
    text = json.dumps({"model": "tiny", **body, **more}).encode()
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


def opened(port, receive_bytes=0):
    client = socket.socket()
    client.settimeout(5)
    if receive_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    client.connect(("127.0.0.1", port))
    return client


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cuts_off(port, draw):
    with opened(port) as client:
        client.sendall(request_bytes(draw.randrange(600), stream=True))
        client.recv(draw.randint(1, 400))
        if draw.random() < 0.5:
            reset(client)


def leaves_at_once(port, draw):
    with opened(port) as client:
        client.sendall(request_bytes(draw.randrange(600)))


def stalls(port, draw):
    whole = request_bytes(draw.randrange(600))
    with opened(port) as client:
        client.sendall(whole[:draw.randrange(len(whole))])
        time.sleep(draw.uniform(0, 3))


def never_reads(port, draw):
    with opened(port, receive_bytes=1024) as client:
        for _ in range(draw.randint(1, 4)):
            client.sendall(request_bytes(draw.randrange(600), stream=True))
        time.sleep(draw.uniform(0, 3))


def sends_rubbish(port, draw):
    with opened(port) as client:
        client.sendall(draw.randbytes(draw.randint(1, 40000)))
        client.recv(4096)


def changes_bytes(port, draw):
    whole = bytearray(request_bytes(draw.randrange(600)))
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(whole))
        kind = draw.randrange(3)
        if kind == 0:
            whole[at] = draw.randrange(256)
        elif kind == 1:
            del whole[at:at + draw.randint(1, 20)]
        else:
            whole[at:at] = whole[draw.randrange(len(whole)):][:20]
    with opened(port) as client:
        client.settimeout(draw.uniform(0.05, 2))
        client.sendall(whole)
        client.recv(4096)


def asks_for_too_much(port, draw):
    body = draw.choice([b"[" * 5000, b'{"messages":' * 2000, b'{"model":"tiny","messages":[{"role":"user","content":"' + b"word " * 4000 + b'"}]}'])
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {draw.choice([len(body), 1 << 40])}\r\n"
    if draw.random() < 0.3:
        head += "X-Long: " + "x" * 20000 + "\r\n"
    with opened(port) as client:
        client.sendall(head.encode() + b"\r\n" + body)
        client.recv(4096)


MISBEHAVIOUR = (cuts_off, leaves_at_once, stalls, never_reads, sends_rubbish, changes_bytes, asks_for_too_much)


def misbehave_on(port, client, until, counts):
    draw = random.Random(2000 + client)
    for turn in itertools.count(client):
        if time.monotonic() >= until:
            break
        how = MISBEHAVIOUR[turn % len(MISBEHAVIOUR)]
        try:
            how(port, draw)
        except OSError:  # the server has closed, or took its time
            pass
        counts[how.__name__] += 1


# --- The crowd --------------------------------------------------------------------------------------------------------

def in_progress(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/slots")
    slots = json.loads(connection.getresponse().read())
    connection.close()
    return sum(slot["is_processing"] for slot in slots)


def anonymous_mb(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024


def run(server, port):
    questions = 240
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    alone = [answer(connection, number) for number in range(questions)]
    connection.close()
    if len(set(alone)) < questions // 2:
        raise Failure("the answers hardly differ, so that one for another would not be seen")

    until, counts, failures = time.monotonic() + SECONDS, collections.Counter(), []

    def watched(work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001 (a thread's end is told by the main one)
            failures.append(f"{work.__name__}: {type(error).__name__}: {error}")

    clients = [threading.Thread(target=watched, args=(ask_on, port, i, alone, until, counts)) for i in range(GOOD)]
    clients += [threading.Thread(target=watched, args=(misbehave_on, port, i, until, counts)) for i in range(BAD)]
    for client in clients:
        client.start()
    memory = []  # MB, each second
    while time.monotonic() < until and not failures and server.poll() is None:
        memory.append(anonymous_mb(server))
        time.sleep(1)
    if server.poll() is not None:
        raise Failure(f"the server ended with {server.returncode}")
    for client in clients:
        client.join(180)
        if client.is_alive():
            raise Failure("a client waits for an answer that does not come")
    if failures:
        raise Failure("; ".join(failures[:5]))
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    missing = {question(n)[0] for n in range(6)} | {how.__name__ for how in MISBEHAVIOUR} if SECONDS >= 10 else set()
    if missing - set(counts):
        raise Failure(f"never happened: {sorted(missing - set(counts))}")

    deadline = time.monotonic() + 60
    while in_progress(port):
        if time.monotonic() > deadline:
            raise Failure("what clients left is still in progress after a minute")
        time.sleep(0.1)
    if SECONDS >= 300:
        tenth = len(memory) // 10
        half, end = (statistics.median(part) for part in (memory[len(memory) // 2 - tenth:len(memory) // 2], memory[-tenth:]))
        print(f"memory: {memory[0]:.1f} MB at first, {half:.1f} MB before half of the time, {end:.1f} MB at the end")
        if end > half + GROWTH_MB:
            raise Failure(f"the second half needed {end - half:.1f} MB more than the first")


def main():
    folder = tempfile.mkdtemp()
    shutil.copytree(MODEL, os.path.join(folder, "models", "tiny"))
    server = subprocess.Popen([PROGRAM, "serve", "tiny", "--port", "0", "--json", "--context", "512", "--threads", "2", "--policy", "none"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "FOVEA_DATA": folder})
    try:
        run(server, int(json.loads(server.stdout.readline())["url"].rsplit(":", 1)[1]))
        server.send_signal(signal.SIGINT)
        code = server.wait(60)
        if code != 0:
            raise Failure(f"the server ended with {code}")
    finally:
        server.kill()
    shutil.rmtree(folder)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
    print("all answers were what they are alone")
