#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of passwords.sh with other programs: hashes passwords for Gatehouse to verify, and verifies the hashes of Gatehouse.

passwords.py make FOLDER    writes passwords.tsv and theirs.tsv
passwords.py verify FOLDER  reads ours.tsv; status 1 if a hash does not match
"""

import base64
import collections
import ctypes
import hashlib
import os
import random
import string
import subprocess
import sys
import warnings

import argon2
import bcrypt

warnings.simplefilter("ignore")
import passlib.hash as handlers  # noqa: E402

ROUNDS = 4


def passwords():
    """Random passwords, short and long: letters, all of ASCII, UTF-8 of several scripts."""
    chance = random.SystemRandom()
    visible = string.digits + string.ascii_letters + string.punctuation
    scripts = "àéîõüßñçøåλωЖяשםあ漢字🔐é𝔊"
    texts = []
    for _ in range(ROUNDS):
        texts.append("".join(chance.choices(string.ascii_letters, k=chance.randint(2, 8))))
        texts.append("".join(chance.choices(visible, k=8)))
        texts.append("".join(chance.choices(visible + " ", k=chance.randint(12, 70))) + "x")
        texts.append("".join(chance.choices(visible + scripts, k=chance.randint(4, 17))))
        texts.append("".join(chance.choices(visible, k=chance.randint(100, 240))))
    return texts


def run(arguments, text=""):
    done = subprocess.run(arguments, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]}: {done.stderr.decode()}")
    return done.stdout.decode().strip()


def passlib(text):
    """All formats of passlib that Gatehouse reads, with few rounds."""
    yield handlers.argon2.using(type="ID", memory_cost=512, rounds=1, parallelism=2).hash(text)
    for name in "pbkdf2_sha1 pbkdf2_sha256 pbkdf2_sha512 django_pbkdf2_sha256 django_pbkdf2_sha1".split():
        yield getattr(handlers, name).using(rounds=1000).hash(text)
    yield handlers.scrypt.using(rounds=8).hash(text)
    for name in "sha256_crypt sha512_crypt sha1_crypt sun_md5_crypt".split():
        yield getattr(handlers, name).using(rounds=1000).hash(text)
    for name in "md5_crypt apr_md5_crypt ldap_md5 ldap_sha1 ldap_salted_md5 ldap_salted_sha1".split():
        yield getattr(handlers, name).hash(text)
    for name in "ldap_salted_sha256 ldap_salted_sha512 ldap_md5_crypt".split():
        yield getattr(handlers, name).hash(text)
    for version in 1, 2:
        yield handlers.bcrypt_sha256.using(rounds=4, version=version).hash(text)
    yield handlers.django_bcrypt_sha256.using(rounds=4).hash(text)
    if len(text.encode()) <= 72:
        yield handlers.django_bcrypt.using(rounds=4).hash(text)
    if text.isascii():
        yield handlers.bsdi_crypt.using(rounds=101).hash(text)
        yield handlers.bsd_nthash.hash(text)
        if len(text) <= 8:
            yield handlers.des_crypt.hash(text)


def cffi(text):
    for kind in argon2.Type:
        for version in 0x10, 0x13:
            yield argon2.low_level.hash_secret(
                text.encode(), os.urandom(16), 2, 256, random.randint(1, 4), random.choice([16, 32, 64]), kind, version
            ).decode()


def blowfish(text):
    if len(text.encode()) <= 72:
        for prefix in b"2a", b"2b":
            yield bcrypt.hashpw(text.encode(), bcrypt.gensalt(4, prefix)).decode()


def htpasswd(text):
    for options in ["-B", "-C5"], ["-m"], ["-s"], ["-2"], ["-5"], ["-d"]:
        size = len(text.encode())
        if options[0] == "-B" and size > 72 or options[0] == "-d" and (size > 8 or not text.isascii()):
            continue
        yield run(["htpasswd", "-ni", *options, "user"], text).split(":", 1)[1]


def mkpasswd(text):
    methods = "yescrypt gost-yescrypt scrypt bcrypt bcrypt-a sha512crypt sha256crypt sunmd5 md5crypt bsdicrypt descrypt nt"
    for method in methods.split():
        size = len(text.encode())
        if method.startswith("bcrypt") and size > 72 or method == "descrypt" and size > 8:
            continue
        if method in ("descrypt", "bsdicrypt", "nt") and not text.isascii():
            continue
        yield run(["mkpasswd", "-s", "-m", method], text)


def slappasswd(text):
    folder = "/usr/lib/ldap/"
    modules = [
        ("", "{SSHA} {SHA} {SMD5} {MD5} {CRYPT}"),
        ("pw-sha2", "{SSHA256} {SHA256} {SSHA384} {SHA384} {SSHA512} {SHA512}"),
        ("pw-pbkdf2", "{PBKDF2} {PBKDF2-SHA1} {PBKDF2-SHA256} {PBKDF2-SHA512}"),
        ("pw-argon2", "{ARGON2}"),
        ("argon2", "{ARGON2}"),
    ]
    for module, schemes in modules:
        path = f"{folder}{module}.so"
        if module and not os.path.exists(path):
            continue
        for scheme in schemes.split():
            options = ["-o", f"module-load={path}"] if module else []
            if scheme == "{CRYPT}":
                options = ["-c", "$6$%.8s"]
            yield run(["slappasswd", "-n", "-h", scheme, *options, "-T", "/dev/stdin"], text)


def command(text):
    # The limit of the argon2 program.
    if len(text.encode()) <= 127:
        for kind in "-i", "-d", "-id":
            yield run(["argon2", "saltsaltsalt", kind, "-t", "2", "-k", "256", "-p", "2", "-e"], text)


def library(text):
    """Formats of frameworks that Python's hashlib can compute."""
    data, salt = text.encode(), os.urandom(16)
    word = base64.b32encode(salt).decode().rstrip("=")
    key = hashlib.scrypt(data, salt=word.encode(), n=256, r=8, p=1, dklen=64)
    yield f"scrypt:256:8:1${word}${key.hex()}"
    yield f"scrypt$256${word}$8$1${base64.b64encode(key).decode()}"
    yield f"pbkdf2:sha512:1000${word}${hashlib.pbkdf2_hmac('sha512', data, word.encode(), 1000).hex()}"
    yield "{pbkdf2}" + (salt[:8] + hashlib.pbkdf2_hmac("sha1", data, salt[:8], 185000, 32)).hex()
    digest = hashlib.sha256(salt[:8] + data).digest()
    for _ in range(1023):
        digest = hashlib.sha256(digest).digest()
    yield "{sha256}" + (salt[:8] + digest).hex()
    digest = hashlib.sha256(data + salt[:8]).digest()
    for _ in range(99):
        digest = hashlib.sha256(digest).digest()
    first = hashlib.sha512(salt + data).digest()
    for _ in range(99):
        first = hashlib.sha512(first).digest()
    yield "{TOMCAT-SHA-512}" + f"{salt.hex()}$100${first.hex()}"
    yield "{TOMCAT-PBKDF2-SHA256}" + f"{salt.hex()}$1000${hashlib.pbkdf2_hmac('sha256', data, salt, 1000, 20).hex()}"
    yield "{GF-SSHA256}" + base64.b64encode(digest + salt[:8]).decode()


def make(folder):
    programs = {
        "passlib": passlib, "argon2-cffi": cffi, "bcrypt": blowfish, "htpasswd": htpasswd, "mkpasswd": mkpasswd,
        "slappasswd": slappasswd, "argon2": command, "hashlib": library,
    }  # fmt: skip
    texts = passwords()
    with open(f"{folder}/passwords.tsv", "w") as out:
        out.writelines(text.encode().hex() + "\n" for text in texts)
    with open(f"{folder}/theirs.tsv", "w") as out:
        for text in texts:
            for name, program in programs.items():
                for stored in program(text):
                    out.write(f"{name}\t{text.encode().hex()}\t{stored}\n")


def crypt(password, stored):
    libcrypt = ctypes.CDLL("libcrypt.so.1")
    libcrypt.crypt.restype = ctypes.c_char_p
    return libcrypt.crypt(password, stored.encode()) == stored.encode()


def matches(scheme, password, stored):
    if scheme == "argon2id":
        return argon2.low_level.verify_secret(stored.encode(), password, argon2.Type.ID)
    if scheme == "bcrypt":
        return bcrypt.checkpw(password, stored.encode()) and crypt(password, stored)
    if scheme == "yescrypt":
        return crypt(password, stored)
    handler = {"sha512crypt": "sha512_crypt", "scrypt": "scrypt"}.get(scheme, scheme.replace("-", "_"))
    return getattr(handlers, handler).verify(password, stored)


def verify(folder):
    counts, wrong = collections.Counter(), 0
    for line in open(f"{folder}/ours.tsv"):
        scheme, password, stored = line.rstrip("\n").split("\t")
        counts[scheme] += 1
        if not matches(scheme, bytes.fromhex(password), stored):
            wrong += 1
            print(f"not matched: {scheme} {stored} of {password}")
    for scheme, count in sorted(counts.items()):
        print(f"{scheme}: {count} hashes of Gatehouse match in the other program")
    return 1 if wrong or not counts else 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(verify(sys.argv[2]))
