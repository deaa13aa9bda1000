# SPDX-License-Identifier: Apache-2.0
"""Changes a TLS session that openssl s_client has saved, for tests with a forged session."""

import base64
import re


def rewrite(source, target, early_data=None, flip_ticket=False):
    """Copies a session in PEM.

    `early_data` sets the number of early bytes that the session allows. `flip_ticket` changes one bit of the ticket.
    """
    with open(source) as file:
        text = re.search("-----BEGIN SSL SESSION PARAMETERS-----(.*?)-----END", file.read(), re.DOTALL).group(1)
    fields = list(elements(contents(base64.b64decode(text))))
    if flip_ticket:
        fields = [flipped(field) if field[0] == 0xAA else field for field in fields]
    if early_data is not None:
        octets = early_data.to_bytes(early_data.bit_length() // 8 + 1, "big")
        number = b"\x02" + length_of(octets) + octets
        claim = b"\xaf" + length_of(number) + number
        fields = [field for field in fields if field[0] != 0xAF]
        # The fields of SSL_SESSION are in the order of their tags: [10] is the ticket, [15] is max_early_data.
        place = next((index for index, field in enumerate(fields) if field[0] > 0xAF), len(fields))
        fields.insert(place, claim)
    body = b"".join(fields)
    data = base64.encodebytes(b"\x30" + length_of(body) + body).decode()
    with open(target, "w") as file:
        file.write(f"-----BEGIN SSL SESSION PARAMETERS-----\n{data}-----END SSL SESSION PARAMETERS-----\n")


def flipped(field):
    # The last byte belongs to the MAC of the ticket.
    return field[:-1] + bytes([field[-1] ^ 1])


def length_of(data):
    count = len(data)
    if count < 128:
        return bytes([count])
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(octets)]) + octets


def header(data, at):
    """The beginning and end of the contents of an element."""
    first = data[at + 1]
    if first < 128:
        return at + 2, at + 2 + first
    count = first & 0x7F
    start = at + 2 + count
    return start, start + int.from_bytes(data[at + 2:start], "big")


def contents(data):
    start, end = header(data, 0)
    return data[start:end]


def elements(data):
    at = 0
    while at < len(data):
        _, end = header(data, at)
        yield data[at:end]
        at = end
