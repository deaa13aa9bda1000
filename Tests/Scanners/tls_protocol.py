# SPDX-License-Identifier: Apache-2.0
"""Tests TLS itself, with openssl s_client, and with bytes of our own where s_client cannot send them.

    tls_protocol.py PORT

Prints a line for each check. The status is 1 if a check fails.
"""

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile

import forged_session

PORT = int(sys.argv[1])
CHECKS = []
SUITES = {  # Mozilla's intermediate level for TLS 1.2, less DHE, by key type
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
}


def check(name):
    def register(body):
        CHECKS.append((name, body))
        return body
    return register


def client(*options, say="", wait=0.4, environment=None):
    """Returns the output of s_client. Its input is `say` after a moment, and ends a moment later."""
    process = subprocess.Popen(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{PORT}", "-servername", "localhost", *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
    try:
        process.wait(wait)
    except subprocess.TimeoutExpired:
        pass
    try:
        if say:
            process.stdin.write(say.encode())
            process.stdin.flush()
            process.wait(wait * 2)
    except (subprocess.TimeoutExpired, BrokenPipeError):
        pass
    try:
        return process.communicate(timeout=10)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0].decode(errors="replace")


def require(text, pattern):
    if not re.search(pattern, text):
        tail = " / ".join(line.strip() for line in text.splitlines() if re.search("alert|error|New|Reused|ALPN", line))
        raise AssertionError(f"no {pattern!r} in: {tail[:300]}")


def talk(data, wait=3):
    """Sends bytes. Returns the answer, and whether the server has closed the connection."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=wait) as plain:
        plain.sendall(data)
        answer = b""
        try:
            while more := plain.recv(4096):
                answer += more
            return answer, True
        except ConnectionResetError:
            return answer, True
        except socket.timeout:
            return answer, False


def hello(version, record=None, suites=(0xC02B, 0xC02F, 0x009C, 0x002F, 0x000A), compression=b"\0", extensions=b""):
    body = struct.pack(">H", version) + bytes(32) + b"\0" + struct.pack(">H", 2 * len(suites))
    body += b"".join(struct.pack(">H", suite) for suite in suites)
    body += bytes([len(compression)]) + compression
    if extensions:
        body += struct.pack(">H", len(extensions)) + extensions
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16" + struct.pack(">HH", record or version, len(message)) + message


def refused(data):
    answer, closed = talk(data)
    assert closed, f"the connection stays open after {answer[:16].hex()}"
    assert not answer or answer[0] == 0x15, f"answered by {answer[:16].hex()}"
    return answer


# Versions

@check("SSLv2 is refused")
def sslv2():
    refused(b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\x01\x00\x80\x03\x00\x80\x07\x00\xc0" * 3 + bytes(10))


@check("SSLv3 is refused")
def sslv3():
    refused(hello(0x0300))


for option, number, name in (("-tls1", 0x0301, "TLS 1.0"), ("-tls1_1", 0x0302, "TLS 1.1")):
    @check(f"{name} is refused")
    def old_version(option=option, number=number):
        require(client(option, "-cipher", "ALL:@SECLEVEL=0"), "alert protocol version")
        answer = refused(hello(number))
        assert answer[5:7] == b"\x02\x46", f"{answer.hex()} in place of protocol_version"


for option, name in (("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")):
    @check(f"{name} is served")
    def version(option=option, name=name):
        require(client(option), f"New, {name}, Cipher is [A-Z]")


@check("a downgrade is refused (TLS_FALLBACK_SCSV)")
def fallback():
    require(client("-fallback_scsv", "-no_tls1_3"), "inappropriate fallback")


# Suites, groups, compression

@check("TLS 1.2 has suites with ECDHE and AEAD only")
def suites():
    known = subprocess.run(["openssl", "ciphers", "-tls1_2", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"],
                           capture_output=True, text=True, check=True).stdout.strip().split(":")
    served = set()
    offered = [suite for suite in known if not suite.startswith("TLS_")]
    # Repeats without the suites that the server has chosen, until it chooses none.
    while offered:
        said = client("-tls1_2", "-cipher", ":".join(offered) + ":@SECLEVEL=0", wait=0.15)
        chosen = re.search(r"New, TLSv1\.2, Cipher is (\S+)", said)
        if not chosen:
            require(said, "handshake failure")
            break
        served.add(chosen.group(1))
        offered.remove(chosen.group(1))
    assert len(served) == 3, f"not three suites: {sorted(served)}"
    assert served <= SUITES, f"served: {sorted(served - SUITES)}"


@check("small and odd groups are refused in TLS 1.3")
def groups():
    for group in ("secp521r1", "X448", "ffdhe2048"):
        require(client("-tls1_3", "-groups", group), "handshake failure")
    for group in ("X25519", "P-256", "P-384"):
        require(client("-tls1_3", "-groups", group), "New, TLSv1.3")


@check("compression is not offered")
def compression():
    require(client("-tls1_2", "-comp", "-cipher", "ALL:@SECLEVEL=0"), "Compression: NONE")
    groups = struct.pack(">HHHH", 10, 4, 2, 23) + struct.pack(">HHHH", 13, 6, 4, 0x0403) + struct.pack(">H", 0x0804)
    suites = (0xC02B, 0xC02F)
    answer, _ = talk(hello(0x0303, 0x0301, suites, b"\1\0", groups), wait=1)
    assert answer[:1] == b"\x16" and answer[5] == 2, f"no ServerHello: {answer[:16].hex()}"
    method = answer[5 + 4 + 2 + 32 + 1 + answer[43] + 2]
    assert method == 0, f"compression method {method}"


# Renegotiation

@check("renegotiation by the client is refused")
def renegotiation():
    said = client("-tls1_2", say="R\n", wait=0.6)
    require(said, "RENEGOTIATING")
    require(said, "no renegotiation|alert|closed|errno")
    assert len(re.findall("verify return", said)) <= 2, "the server has renegotiated"


@check("renegotiation is marked as secure (RFC 5746)")
def secure_renegotiation():
    require(client("-tls1_2"), "Secure Renegotiation IS supported")


@check("a client without RFC 5746 cannot renegotiate")
def insecure_renegotiation():
    # The first handshake is allowed without RFC 5746, but a renegotiation is not.
    said = client("-tls1_2", "-legacy_renegotiation", say="R\n", wait=0.6)
    require(said, "no renegotiation|alert|closed|errno")


# ALPN

@check("ALPN: http/1.1 is chosen")
def alpn():
    for option in ("-tls1_2", "-tls1_3"):
        require(client(option, "-alpn", "http/1.1"), "ALPN protocol: http/1.1")
        require(client(option, "-alpn", "h3,http/1.1,spdy/3"), "ALPN protocol: http/1.1")


@check("ALPN: a client without it is served")
def no_alpn():
    request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for option in ("-tls1_2", "-tls1_3"):
        said = client(option, say=request)
        require(said, "No ALPN negotiated")
        require(said, "HTTP/1.1 200")


@check("ALPN: an unknown protocol is refused with no_application_protocol")
def unknown_alpn():
    for option in ("-tls1_2", "-tls1_3"):
        require(client(option, "-alpn", "spdy/3,h3"), "alert no application protocol")


# Resumption

def resumed(folder, option, *more):
    file = os.path.join(folder, "session" + option)
    request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    require(client(option, "-sess_out", file, say=request), "New, TLSv1")
    return file, client(option, "-sess_in", file, *more, say=request)


for option, name in (("-tls1_2", "TLS 1.2"), ("-tls1_3", "TLS 1.3")):
    @check(f"sessions are resumed in {name}")
    def resumption(option=option):
        with tempfile.TemporaryDirectory() as folder:
            _, said = resumed(folder, option)
            require(said, "Reused, TLSv1")
            require(said, "HTTP/1.1 200")


@check("a ticket that was tampered with is not resumed")
def forged_ticket():
    with tempfile.TemporaryDirectory() as folder:
        file, said = resumed(folder, "-tls1_3")
        require(said, "Reused, TLSv1")
        forged = os.path.join(folder, "forged")
        forged_session.rewrite(file, forged, flip_ticket=True)
        require(client("-tls1_3", "-sess_in", forged), "New, TLSv1.3")


@check("early data is neither offered nor accepted")
def early_data():
    with tempfile.TemporaryDirectory() as folder:
        early, eager = os.path.join(folder, "early"), os.path.join(folder, "eager")
        with open(early, "w") as out:
            out.write("GET /welcome HTTP/1.1\r\nHost: localhost\r\n\r\n")
        file, said = resumed(folder, "-tls1_3", "-early_data", early)
        require(said, "Max Early Data: 0")
        require(said, "Early data was not sent")
        # A client that ignores the limit in the ticket.
        forged_session.rewrite(file, eager, early_data=16384)
        said = client("-tls1_3", "-sess_in", eager, "-early_data", early)
        require(said, "Early data was rejected")
        assert "401" not in said, "the server has answered early data"


# Bytes that are not TLS

@check("plain HTTP on the port is closed and not served")
def plain():
    answer, closed = talk(b"GET /welcome HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert closed, "the connection stays open"
    assert b"200" not in answer and b"Welcome" not in answer, answer[:60]


@check("invalid bytes close the connection")
def nonsense():
    for data in (b"\0" * 64, b"\xff" * 64, b"\x16\x03\x01\xff\xff" + b"\1" * 64,
                 b"\x17\x03\x03\x00\x20" + bytes(32), b"\x15\x03\x03\x00\x02\x02\x28"):
        _, closed = talk(data)
        assert closed, f"the connection stays open after {data[:8].hex()}"


@check("a heartbeat is not answered (CVE-2014-0160)")
def heartbeat():
    answer, closed = talk(hello(0x0303, 0x0301) + b"\x18\x03\x03\x00\x03\x01\x40\x00")
    assert closed, "the connection stays open"
    kinds, at = [], 0
    while at + 5 <= len(answer):
        kinds.append(answer[at])
        at += 5 + int.from_bytes(answer[at + 3:at + 5], "big")
    assert 0x18 not in kinds, f"records of the types {kinds}"


def main():
    failed = 0
    for name, body in CHECKS:
        try:
            body()
            print(f"ok      {name}")
        except (AssertionError, OSError) as error:
            failed += 1
            print(f"FAILED  {name}: {error}")
    sys.exit(failed > 0)


main()
