# SPDX-License-Identifier: Apache-2.0
"""Verifies identity tokens as an application does: by the published keys, with openssl."""

import base64
import json
import os
import subprocess
import tempfile

# The DER form of a public key on the curve P-256, before the bytes of the point (RFC 5480).
PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")


def make_key(path):
    """Makes a private key for identity tokens, as the documentation does."""
    command = f"umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '{path}'"
    subprocess.run(["sh", "-c", command], check=True, stdin=subprocess.DEVNULL, capture_output=True)


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def der(number):
    number = number.lstrip(b"\0")
    number = (b"\0" if not number or number[0] & 0x80 else b"") + number
    return bytes([2, len(number)]) + number


def claims(token, keys, issuer, audience, now):
    """The claims of a token. Raises ValueError if an application must reject the token."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("a token has three parts")
    header, signature = json.loads(decoded(parts[0])), decoded(parts[2])
    found = [key for key in keys["keys"] if key["kid"] == header["kid"]]
    if header["alg"] != "ES256" or len(found) != 1 or len(signature) != 64:
        raise ValueError(f"the key or the algorithm is not known: {header}")
    with tempfile.TemporaryDirectory() as folder:
        def file(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as out:
                out.write(content)
            return path
        key = file("key", PREFIX + decoded(found[0]["x"]) + decoded(found[0]["y"]))
        numbers = der(signature[:32]) + der(signature[32:])
        signed = subprocess.run(
            ["openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", key,
             "-signature", file("signature", bytes([0x30, len(numbers)]) + numbers), file("signed", ".".join(parts[:2]).encode())],
            stdin=subprocess.DEVNULL, capture_output=True)
    if signed.returncode != 0 or b"Verified OK" not in signed.stdout:
        raise ValueError("the signature is not valid")
    made = json.loads(decoded(parts[1]))
    if made["iss"] != issuer or made["aud"] != audience:
        raise ValueError(f"the token is for {made['aud']} by {made['iss']}")
    if not made["iat"] <= now < made["exp"]:
        raise ValueError("the token has expired, or is from the future")
    return made
