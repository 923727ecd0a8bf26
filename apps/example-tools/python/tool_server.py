"""A RAP tool server with the standard library alone: python3 tool_server.py [PORT]. Messages: libs/protocol/schemas."""
import json, sys, time, urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}
TOOLS = {"count_words": ("Counts the words of a text.", WORDS, lambda given: f"{len(given['text'].split())} words")}
workers = ThreadPoolExecutor(max_workers=16)
taken = set()  # ids of calls: a POST that is repeated is one call


def send(url, message):
    """POSTs until it is taken: again after 5xx and without an answer, never after 4xx."""
    request = urllib.request.Request(url, json.dumps(message).encode(), {"Content-Type": "application/json"})
    for attempt in range(12):
        try:
            return urllib.request.urlopen(request, timeout=10).close()
        except OSError as error:
            if getattr(error, "code", 500) < 500:
                return print(f"the result was refused: {error}", file=sys.stderr)
            time.sleep(min(0.5 * 2**attempt, 60))


def run(call):
    try:
        _, schema, tool = TOOLS[call["operation"]]
        missing = [name for name in schema["required"] if name not in call["arguments"]]
        text = f"Error: {', '.join(missing)} is missing." if missing else tool(call["arguments"])
    except Exception as error:  # a call that was acknowledged ends in a result, whatever happens
        text = f"Error: {call['operation']} failed ({type(error).__name__})."
    echo = {name: call[name] for name in ("group_id", "id", "call_id") if call.get(name) is not None}
    send(call["callback_url"], {"type": "tool_result", **echo, "text": text})


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        tools = [{"name": name, "description": words, "inputSchema": schema} for name, (words, schema, _) in TOOLS.items()]
        manifest = {"name": "python-tools", "endpoint": f"{base}/invoke", "tools": tools}
        self.answer(200, manifest) if self.path == "/.well-known/rap-toolset" else self.answer(404)

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        self.answer(200)  # first; /cancel_tool_call and /close_thread need nothing else here
        if self.path == "/invoke" and call["id"] not in taken:
            taken.add(call["id"])
            workers.submit(run, call)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
base = f"http://127.0.0.1:{server.server_port}"
print(f"ready {base}", flush=True)
server.serve_forever()
