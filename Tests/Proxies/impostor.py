# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Somebody in Gatehouse's place, who says yes to everything and has a certificate for the right name, of the wrong authority."""

import http.server
import ssl
import threading


YES = (("Remote-User", "ann"), ("Remote-Groups", "Staff"), ("Remote-Realm", "town"))


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
        """A handshake that is broken off is what is hoped for."""

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
