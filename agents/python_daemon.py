#!/usr/bin/env python3
"""A Muster daemon in Python, with the standard library and `websockets`: an example to copy.

Replace `handle` by work of your own, and `CAPABILITIES` by what it can do. It is written from services/hub/README.md, which says what the messages mean.

    MUSTER_DAEMON_TOKEN=md_... python3 agents/python_daemon.py wss://muster.example.com/hub results/
"""

import asyncio
import inspect
import json
import os
import pathlib
import random
import signal
import socket
import sys

import websockets

CAPABILITIES, SLOTS = ["python"], 2
TOKEN_GONE, TAKEN_OVER = 4401, 4409
MAX_MESSAGE_BYTES = 1_000_000


async def handle(task):
    """Writes the words of its input. In a session it then notes down each message, until one says "stop"."""
    notes = []
    for word in task.execute["input"].split():
        task.write(word + " ")
        await asyncio.sleep(task.execute.get("context", {}).get("paceMs", 0) / 1000)
    while task.execute.get("takesInput") and task.execute.get("session") and notes[-1:] != ["stop"]:
        notes.append(await task.inputs.get())
        task.write("noted: " + notes[-1] + "; ")
    return {"result": {"notes": notes}}


class Task:
    """One attempt: what the hub sent, what it came to, and what the hub does not have of it yet."""

    def __init__(self, execute, report):
        self.execute = execute
        self.name = {"taskId": execute["taskId"], "token": execute["token"]}
        self.inputs = asyncio.Queue()
        self.input_ids = set()
        self.output = []
        self.final = None
        self.running = None
        self.dropped = False
        self.report = report

    def write(self, text):
        """Appends to the output. The hub counts entries from 1, and asks for those that it misses."""
        self.output.append({"type": "task.output", **self.name, "seq": len(self.output) + 1, "text": text})
        self.report(self.output[-1])

    def messages(self, after=0):
        """All that the hub has to receive, beginning after an entry of the output."""
        return self.output[after:] + ([self.final] if self.final else [])


class Daemon:
    def __init__(self, url, token, folder):
        self.url, self.token = url, token
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tasks = {}
        self.socket = None
        self.tries = 0
        self.draining = asyncio.Event()
        for file in self.folder.glob("*.json"):
            kept = json.loads(file.read_text())
            task = Task(kept["execute"], self.send)
            task.output, task.final = kept["output"], kept["final"]
            self.tasks[key(task.name)] = task

    async def run(self):
        """Connects again and again, until it was drained or its token is refused."""
        while not (self.draining.is_set() and not self.unfinished()):
            try:
                async with connect(self.url, self.token) as opened:
                    await self.serve(opened)
            except websockets.exceptions.InvalidHandshake as error:
                if getattr(error, "status_code", getattr(getattr(error, "response", None), "status_code", 0)) == 401:
                    sys.exit(f"The hub refused this daemon: {error}")
                print(f"no hub now: {error}", file=sys.stderr, flush=True)
            except (OSError, asyncio.TimeoutError, websockets.exceptions.ConnectionClosed) as error:
                if getattr(error, "code", None) in (TOKEN_GONE, TAKEN_OVER):
                    sys.exit(f"The hub ended the connection for good: {error}")
            self.socket = None
            # Jitter, so that many daemons do not come back at once.
            await asyncio.sleep(min(15, 0.25 * 2**self.tries) * random.uniform(0.5, 1))
            self.tries += 1

    async def serve(self, opened):
        hello = {
            "type": "daemon.hello",
            "protocol": 1,
            "name": socket.gethostname(),
            "host": socket.gethostname(),
            "capabilities": CAPABILITIES,
            "slots": SLOTS,
            "running": [task.name for task in self.tasks.values() if task.final is None],
            "finished": [task.name for task in self.tasks.values() if task.final is not None],
        }
        await opened.send(json.dumps(hello))
        welcome = json.loads(await asyncio.wait_for(opened.recv(), 10))
        if welcome["type"] != "hub.welcome":
            raise OSError(welcome.get("message", "the hub sent no welcome"))
        self.outgoing = asyncio.Queue()
        self.welcome(welcome)
        self.socket = opened
        self.tries = 0
        helpers = [asyncio.ensure_future(self.beat(welcome["heartbeatMs"] / 1000)), asyncio.ensure_future(self.write(opened))]
        print(f"connected as {welcome['daemonId']}", flush=True)
        try:
            async for frame in opened:
                self.receive(json.loads(frame))
        finally:
            self.socket = None
            for helper in helpers:
                helper.cancel()

    def welcome(self, welcome):
        """Stops what the hub drops, and sends of the others what it does not have."""
        last = {key(entry): entry["seq"] for entry in welcome.get("resume", [])}
        for name, task in list(self.tasks.items()):
            if task.name["taskId"] in welcome["drop"] and name not in last:
                self.drop(task)
                continue
            for message in task.messages(last.get(name, 0)):
                self.outgoing.put_nowait(message)

    async def write(self, opened):
        while True:
            await opened.send(json.dumps(await self.outgoing.get()))

    async def beat(self, seconds):
        while True:
            load = min(1, os.getloadavg()[0] / (os.cpu_count() or 1))
            self.send({"type": "daemon.heartbeat", "load": load, "isDraining": self.draining.is_set()})
            if self.draining.is_set() and not self.unfinished():
                await self.socket.close()
            await self.pause(seconds)
            # An end that the hub has not acknowledged is sent again.
            for task in self.tasks.values():
                if task.final is not None:
                    self.send(task.final)

    async def pause(self, seconds):
        """Until the next heartbeat, or until somebody asks it to drain."""
        if self.draining.is_set():
            await asyncio.sleep(min(seconds, 0.2))
            return
        try:
            await asyncio.wait_for(self.draining.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    def unfinished(self):
        return [task for task in self.tasks.values() if task.final is None]

    def send(self, message):
        """Without a connection nothing is sent: the next hub asks for what it misses."""
        if self.socket is not None:
            self.outgoing.put_nowait(message)

    def receive(self, message):
        kind = message.get("type")
        task = self.tasks.get(key(message)) if "taskId" in message else None
        if kind == "task.execute":
            self.accept(message, task)
        elif kind == "task.input" and task and message["id"] not in task.input_ids:
            task.input_ids.add(message["id"])
            task.inputs.put_nowait(message["text"])
        elif kind == "task.cancel":
            self.cancel(message, task)
        elif kind == "task.acknowledged" and task and task.final is not None:
            print(f"{message['outcome']} {message['taskId']}", flush=True)
            self.forget(task)
        elif kind == "error":
            print(f"error {message['code']}: {message['message']}", flush=True)

    def accept(self, execute, known):
        """It may come twice: the first time counts."""
        self.send({"type": "task.accepted", "taskId": execute["taskId"], "token": execute["token"]})
        if known is not None:
            return
        task = self.tasks[key(execute)] = Task(execute, self.send)
        task.running = asyncio.ensure_future(self.execute(task))

    def cancel(self, message, task):
        if task is None or task.final is not None:
            # The hub asks until it learns of an end.
            self.send(task.final if task else failed(message, "CANCELLED", "the attempt does not run here"))
        elif task.running:
            task.running.cancel()

    async def execute(self, task):
        print(f"started {task.name['taskId']}", flush=True)
        try:
            answer = await asyncio.wait_for(handle(task), task.execute["timeoutMs"] / 1000)
            final = {"type": "task.completed", **task.name, **(answer or {})}
            if len(json.dumps(final).encode()) > MAX_MESSAGE_BYTES:
                final = failed(task.name, "OUTPUT_TOO_LARGE", "the result is too large")
        except asyncio.TimeoutError:
            final = failed(task.name, "EXECUTION_TIMEOUT", "the attempt took longer than it may")
        except asyncio.CancelledError:
            final = failed(task.name, "CANCELLED", "the attempt was stopped")
        except Exception as error:
            final = failed(task.name, "AGENT_ERROR", str(error))
        if task.dropped:
            self.forget(task)
            return
        self.keep(task, final)
        task.final = final
        print(f"ended {task.name['taskId']}", flush=True)
        self.send(final)

    def drop(self, task):
        """The attempt goes on elsewhere: nobody waits for its end."""
        task.dropped = True
        if task.final is not None or task.running is None:
            self.forget(task)
        else:
            task.running.cancel()

    def file_of(self, task):
        return self.folder / f"{task.name['taskId']}-{task.name['token']}.json"

    def keep(self, task, final):
        """Returns once the end is on disk: only then the hub may receive it."""
        path = self.file_of(task)
        with open(path.with_suffix(".new"), "w") as file:
            json.dump({"execute": task.execute, "output": task.output, "final": final}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path.with_suffix(".new"), path)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def forget(self, task):
        self.tasks.pop(key(task.name), None)
        self.file_of(task).unlink(missing_ok=True)


def key(message):
    return (message["taskId"], message["token"])


def failed(name, code, text):
    error = {"code": code, "message": text, "retryable": True}
    return {"type": "task.failed", "taskId": name["taskId"], "token": name["token"], "error": error}


def connect(url, token):
    """Older versions of the library call the headers differently."""
    names = inspect.signature(websockets.connect).parameters
    headers = "additional_headers" if "additional_headers" in names else "extra_headers"
    return websockets.connect(url, **{headers: {"Authorization": f"Bearer {token}"}}, max_size=None, ping_interval=20)


async def main():
    daemon = Daemon(sys.argv[1], os.environ.pop("MUSTER_DAEMON_TOKEN"), sys.argv[2])
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, daemon.draining.set)
    await daemon.run()


if __name__ == "__main__":
    if len(sys.argv) != 3 or "MUSTER_DAEMON_TOKEN" not in os.environ:
        sys.exit("Usage: MUSTER_DAEMON_TOKEN=<token> python3 python_daemon.py <ws address of the hub> <folder for results>")
    asyncio.run(main())
