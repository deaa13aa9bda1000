// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import Testing

@Suite struct HashPolicyParsingTests {
    @Test(arguments: [
        ("argon2id", "argon2id memory=19MiB passes=2 lanes=1"),
        ("argon2id memory=64MiB passes=3 lanes=4", "argon2id memory=64MiB passes=3 lanes=4"),
        ("argon2id passes=1 memory=1GiB", "argon2id memory=1GiB passes=1 lanes=1"),
        ("argon2id memory=19457KiB", "argon2id memory=19457KiB passes=2 lanes=1"), ("yescrypt", "yescrypt cost=5"),
        ("bcrypt", "bcrypt cost=12"), ("bcrypt cost=10", "bcrypt cost=10"),
        ("sha512crypt", "sha512crypt rounds=500000"),
        ("scrypt ln=16 p=2", "scrypt ln=16 r=8 p=2"), ("pbkdf2-sha256", "pbkdf2-sha256 iterations=600000"),
        ("pbkdf2-sha512 iterations=1000", "pbkdf2-sha512 iterations=1000"),
    ])
    func `the description of a policy can be read as the same policy`(text: String, expected: String) throws {
        let policy = try HashPolicy(words: text.split(separator: " ").map(String.init))
        #expect("\(policy)" == expected)
        #expect(try HashPolicy(words: expected.split(separator: " ").map(String.init)) == policy)
    }

    @Test(arguments: [
        ("", "needs a value, such as argon2id memory=19MiB passes=2"),
        (
            "md5",
            "is one of argon2id, yescrypt, bcrypt, sha512crypt, scrypt, pbkdf2-sha256, pbkdf2-sha512, not md5"
        ),
        ("argon2id cost=5", "takes memory=, passes=, lanes= with argon2id, not cost=5"),
        ("argon2id memory", "takes memory=, passes=, lanes= with argon2id, not memory"),
        ("argon2id memory=19", "needs a size of memory such as 512KiB, 19MiB or 1GiB, not 19"),
        ("argon2id memory=19MB", "needs a size of memory such as 512KiB, 19MiB or 1GiB, not 19MB"),
        ("argon2id memory=-1MiB", "needs a size of memory such as 512KiB, 19MiB or 1GiB, not -1MiB"),
        ("argon2id memory=63KiB", "takes 64KiB to 2GiB of memory, not 63KiB (argon2id)"),
        ("argon2id memory=3GiB", "takes 64KiB to 2GiB of memory, not 3GiB (argon2id)"),
        ("argon2id passes=0", "takes 1 to 64 passes, with memory times passes up to 16GiB, not 0 (argon2id)"),
        ("argon2id lanes=17", "takes 1 to 16 lanes, not 17 (argon2id)"),
        ("argon2id passes=2 passes=2", "has passes= twice"), ("bcrypt cost=x", "needs a whole number for cost, not x"),
        ("bcrypt cost=18", "takes a cost of 4 to 17, not 18 (bcrypt)"),
        ("yescrypt cost=12", "takes a cost of 1 to 11, not 12 (yescrypt)"),
        ("sha512crypt rounds=999", "takes 1000 to 10000000 rounds, not 999 (sha512crypt)"),
        ("pbkdf2-sha256 iterations=1", "takes 1000 to 10000000 iterations, not 1 (pbkdf2-sha256)"),
        ("argon2id memory=9999999999GiB", "takes 64KiB to 2GiB of memory, not 9999999999GiB (argon2id)"),
        (
            "argon2id passes=9999999999",
            "takes 1 to 64 passes, with memory times passes up to 16GiB, not 9999999999 (argon2id)"
        ),
    ])
    func `invalid words are rejected with a message`(text: String, message: String) {
        #expect(throws: BadValue(message)) { try HashPolicy(words: text.split(separator: " ").map(String.init)) }
    }

    @Test(arguments: ["ln=3", "ln=25", "r=0", "p=0", "r=9999999999", "p=9999999999", "ln=9999999999", "ln=24 r=256"])
    func `scrypt parameters out of bounds are rejected without an overflow`(text: String) {
        #expect(throws: BadValue.self) {
            try HashPolicy(words: ["scrypt"] + text.split(separator: " ").map(String.init))
        }
    }

    @Test(arguments: [
        HashScheme.argon2id(memory: .max, passes: .max, lanes: .max), .argon2id(memory: 1, passes: 1, lanes: 1),
        .bcrypt(cost: -1), .yescrypt(cost: .max), .sha512crypt(rounds: .max), .scrypt(logN: .max, r: .max, p: .max),
        .scrypt(logN: -1, r: 8, p: 1), .pbkdf2SHA256(iterations: .min), .pbkdf2SHA512(iterations: .max),
    ])
    func `a policy with parameters out of bounds throws`(scheme: HashScheme) {
        #expect(throws: HashFault(.failed, "")) { try HashPolicy(scheme).hash(Secret(utf8: "secret")) }
        #expect(throws: HashFault(.failed, "")) { try HashPolicy(scheme).decoy() }
    }
}
