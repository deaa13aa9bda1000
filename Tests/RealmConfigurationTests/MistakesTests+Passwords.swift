// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    private static let schemes = "argon2id, yescrypt, bcrypt, sha512crypt, scrypt, pbkdf2-sha256, pbkdf2-sha512"

    static let passwords: [Mistake] = [
        Mistake(
            "passwords on;",
            "etc/realms.conf:1:1: error: passwords takes a block and no words | as in: passwords { hash argon2id memory=19MiB passes=2; }"
        ),
        Mistake(
            "password { }",
            "etc/realms.conf:1:1: error: unknown statement password in realms.conf | did you mean passwords?"
        ),
        Mistake(
            "passwords { hahs argon2id; when-ful refuse; }",
            "etc/realms.conf:1:13: error: unknown statement hahs in passwords | did you mean hash?",
            "etc/realms.conf:1:28: error: unknown statement when-ful in passwords | did you mean when-full?"
        ),
        Mistake(
            "passwords { workers 2; workers 3; } passwords { }",
            "etc/realms.conf:1:37: error: a second passwords | the first one is at etc/realms.conf:1:1",
            "etc/realms.conf:1:24: error: a second workers | the first one is at etc/realms.conf:1:13"
        ),
        Mistake(
            "passwords { minimum-length 0; workers 0; queue 0; niceness 20; }",
            "etc/realms.conf:1:28: error: minimum-length is a whole number from 1 to 64, not 0",
            "etc/realms.conf:1:39: error: workers is a whole number from 1 to 1024, not 0",
            "etc/realms.conf:1:48: error: queue is a whole number from 1 to 4096, not 0",
            "etc/realms.conf:1:60: error: niceness is a whole number from 0 to 19, not 20"
        ),
        Mistake(
            "passwords { minimum-length 65; workers 1025; queue 4097; niceness -1; }",
            "etc/realms.conf:1:28: error: minimum-length is a whole number from 1 to 64, not 65",
            "etc/realms.conf:1:40: error: workers is a whole number from 1 to 1024, not 1025",
            "etc/realms.conf:1:52: error: queue is a whole number from 1 to 4096, not 4097",
            "etc/realms.conf:1:67: error: niceness is a whole number from 0 to 19, not -1"
        ),
        Mistake("passwords { wait 10ms; }", "etc/realms.conf:1:18: error: wait is a time from 100ms to 300s"),
        Mistake("passwords { longest-check 5s; }"),
        Mistake(
            "passwords { longest-check 90s; }",
            "etc/realms.conf:1:27: error: longest-check is a time from 100ms to 60s"
        ),
        Mistake("passwords { wait 301s; }", "etc/realms.conf:1:18: error: wait is a time from 100ms to 300s"),
        Mistake(
            "passwords { wait 5; }",
            "etc/realms.conf:1:18: error: wait is a time such as 250ms, 30s, 5m, 12h or 7d, not 5"
        ),
        Mistake(
            "passwords { when-full wait; }",
            "etc/realms.conf:1:23: error: when-full is one of refuse, cancel-oldest, not wait"
        ),
        Mistake(
            "passwords { when-full cancel-odlest; }",
            "etc/realms.conf:1:23: error: when-full is one of refuse, cancel-oldest, not cancel-odlest | did you mean cancel-oldest?"
        ),
    ]

    static let passwordMemory: [Mistake] =
        ["1KiB", "2TiB", "256", "256MB", "MiB", "-1MiB", "+1MiB", "1.5GiB", "99999999999999999999GiB"].map { size in
            Mistake(
                "passwords { memory \(size); }",
                "etc/realms.conf:1:20: error: memory is a size from 1MiB to 1024GiB, as in 256MiB, not \(size)"
            )
        } + [
            Mistake(
                "passwords { hash argon2id memory=512MiB; }",
                "etc/realms.conf:1:18: error: one hash needs 512MiB of memory, but the limit for all hashes together is 256MiB | set memory to 512MiB or more"
            ),
            Mistake(
                "passwords { memory 2MiB; }",
                "etc/realms.conf:1:20: error: one hash needs 19MiB of memory, but the limit for all hashes together is 2MiB | set memory to 19MiB or more"
            ),
            Mistake("passwords { hash argon2id memory=256MiB; }"),
        ]

    static let passwordHashes: [Mistake] = [
        Mistake(
            "passwords { hash; }",
            "etc/realms.conf:1:13: error: hash takes at least one word"
        ),
        Mistake(
            "passwords { hash argon2id { } }",
            "etc/realms.conf:1:13: error: hash takes no block | end it with ;"
        ),
        Mistake(
            "passwords { hash argon2id\n queue 5; }",
            "etc/realms.conf:2:2: error: a ; is missing before queue | quote it if it is meant as a word of hash"
        ),
        Mistake("passwords { hash md5; }", "etc/realms.conf:1:18: error: hash is one of \(schemes), not md5"),
        Mistake("passwords { hash Argon2id; }", "etc/realms.conf:1:18: error: hash is one of \(schemes), not Argon2id"),
        Mistake(
            "passwords { hash argon2id passes=2 rounds=3; }",
            "etc/realms.conf:1:36: error: hash takes memory=, passes=, lanes= with argon2id, not rounds=3"
        ),
        Mistake("passwords { hash bcrypt 12; }", "etc/realms.conf:1:25: error: hash takes cost= with bcrypt, not 12"),
        Mistake(
            "passwords { hash argon2id memory=19MB; }",
            "etc/realms.conf:1:27: error: hash needs a size of memory such as 512KiB, 19MiB or 1GiB, not 19MB"
        ),
        Mistake(
            "passwords { hash argon2id memory=3GiB; memory 4GiB; }",
            "etc/realms.conf:1:27: error: hash takes 64KiB to 2GiB of memory, not 3GiB (argon2id)"
        ),
        Mistake(
            "passwords { hash argon2id memory=19MiB memory=19MiB; }",
            "etc/realms.conf:1:40: error: hash has memory= twice"
        ),
        Mistake(
            "passwords { hash argon2id passes=x; }",
            "etc/realms.conf:1:27: error: hash needs a whole number for passes, not x"
        ),
        Mistake(
            "passwords { hash argon2id passes=2 lanes=17; }",
            "etc/realms.conf:1:36: error: hash takes 1 to 16 lanes, not 17 (argon2id)"
        ),
        Mistake(
            "passwords { hash bcrypt cost=18; }",
            "etc/realms.conf:1:25: error: hash takes a cost of 4 to 17, not 18 (bcrypt)"
        ),
        Mistake(
            "passwords { hash pbkdf2-sha256 iterations=999; }",
            "etc/realms.conf:1:32: error: hash takes 1000 to 10000000 iterations, not 999 (pbkdf2-sha256)"
        ),
        Mistake(
            "passwords { hash argon2id memory=64KiB passes=1; }",
            "etc/realms.conf:1:18: warning: hash: argon2id memory=64KiB passes=1 lanes=1 is weak; the minimum is memory=19MiB passes=2, or memory=46MiB passes=1"
        ),
        Mistake(
            "passwords { hash bcrypt cost=9; }",
            "etc/realms.conf:1:18: warning: hash: bcrypt cost=9 is weak; the minimum is cost=10"
        ),
        Mistake("passwords { hash bcrypt cost=10; }"),
        Mistake("passwords { hash yescrypt; }"),
    ]
}
