# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 client that sends any fields, also invalid ones."""

import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

from client import Answer

END = (h2.events.StreamEnded, h2.events.StreamReset)


class HTTP2:
    """An HTTP/2 connection over TLS, or over an open stream, such as a tunnel."""

    def __init__(self, port=None, authority=None, name=None, stream=None, rest=b""):
        if stream is None:
            context = ssl.create_default_context(cafile=authority)
            context.set_alpn_protocols(["h2"])
            plain = socket.create_connection(("127.0.0.1", port), 10)
            stream = context.wrap_socket(plain, server_hostname=name)
            if stream.selected_alpn_protocol() != "h2":
                raise AssertionError("the proxy does not support HTTP/2")
        self.stream, self.rest = stream, rest
        self.stream.settimeout(5)
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=True, validate_outbound_headers=False, normalize_outbound_headers=False,
            validate_inbound_headers=False))

    def begin(self, has_upgraded=False):
        """Sends preface and settings. After an upgrade, stream 1 belongs to the request with the Upgrade field."""
        if has_upgraded:
            self.connection.initiate_upgrade_connection()
        else:
            self.connection.initiate_connection()
        self._flush()
        return self

    def settings(self):
        """Waits for the settings of the other side and returns them."""
        while not any(isinstance(event, h2.events.RemoteSettingsChanged) for event in self._events()):
            pass
        return self.connection.remote_settings

    def ask(self, fields, body=b"", trailers=()):
        """Sends a request and returns its response, or None without a response. The fields include the pseudo-header fields."""
        try:
            number = self.connection.get_next_available_stream_id()
            self.connection.send_headers(number, fields, end_stream=not body and not trailers)
            if body:
                self.connection.send_data(number, body, end_stream=not trailers)
            if trailers:
                self.connection.send_headers(number, list(trailers), end_stream=True)
            self._flush()
            return self._answer(number)
        except (h2.exceptions.H2Error, OSError):
            return None

    def _answer(self, number):
        head, body = None, b""
        while True:
            for event in self._events():
                if isinstance(event, h2.events.ConnectionTerminated):
                    return None
                if getattr(event, "stream_id", None) != number:
                    continue
                if isinstance(event, h2.events.ResponseReceived):
                    head = [tuple(text if isinstance(text, str) else text.decode("latin-1") for text in pair)
                            for pair in event.headers]
                    status = dict(head)[":status"]
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                if isinstance(event, END):
                    if head is None:
                        return None
                    lines = [f"HTTP/2 {status}", *(f"{name}: {value}" for name, value in head if name != ":status")]
                    return Answer("\r\n".join(lines).encode("latin-1"), body)

    def _events(self):
        data, self.rest = self.rest or self.stream.recv(65536), b""
        if not data:
            raise ConnectionError("the connection has ended")
        events = self.connection.receive_data(data)
        for event in events:
            if isinstance(event, h2.events.DataReceived):
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self._flush()
        return events

    def _flush(self):
        self.stream.sendall(self.connection.data_to_send())

    def close(self):
        self.stream.close()
