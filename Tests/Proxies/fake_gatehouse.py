# SPDX-License-Identifier: Apache-2.0
"""A server in place of Gatehouse that allows every request. Its certificate has the right name and the wrong authority."""

import http.server
import ssl
import threading


YES = (("Remote-User", "ann"), ("Remote-Groups", "Staff"), ("Remote-Realm", "town"), ("Remote-Email", ""), ("Remote-Name", ""), ("Remote-Token", ""))


class Impostor(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, certificate, fields=YES):
        self.asked, self.fields = 0, fields
        super().__init__(("127.0.0.1", port), Impostor.Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate[:2])
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Ignores the error: proxies are expected to end the handshake."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked += 1
            self.send_response(200)
            for name, value in (*self.server.fields, ("Content-Length", "0")):
                self.send_header(name, value)
            self.end_headers()

        do_HEAD = do_POST = do_GET

        def log_message(self, *_):
            pass
