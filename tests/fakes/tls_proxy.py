"""Serves another server's pages over TLS: `tls_proxy.py CERTIFICATE KEY ADDRESS`. Prints its port."""

import http.server
import ssl
import sys
import urllib.error
import urllib.request


class Passed(urllib.request.HTTPRedirectHandler):
    """Redirects are the caller's business."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Passed)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        headers = {key: self.headers[key] for key in ("Accept", "Range") if self.headers.get(key)}
        try:
            reply = OPENER.open(urllib.request.Request(sys.argv[3] + self.path, headers=headers))
        except urllib.error.HTTPError as error:
            reply = error
        body = reply.read()
        self.send_response(reply.status)
        for key in ("Content-Type", "Content-Range", "Location"):
            if reply.headers.get(key):
                self.send_header(key, reply.headers[key])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
