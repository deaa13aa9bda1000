// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import Testing

@Suite struct HashPolicyTests {
    private static let cheap: [HashScheme] = [
        .argon2id(memory: 64, passes: 1, lanes: 1), .argon2id(memory: 64, passes: 2, lanes: 2), .yescrypt(cost: 1),
        .bcrypt(cost: 4), .sha512crypt(rounds: 1000), .sha512crypt(rounds: 5000), .scrypt(logN: 4, r: 8, p: 1),
        .pbkdf2SHA256(iterations: 1000), .pbkdf2SHA512(iterations: 1000),
    ]

    @Test(arguments: cheap)
    func `a hash of a policy is read, matches its password and has the policy's cost`(scheme: HashScheme) throws {
        let policy = HashPolicy(scheme)
        let password = Secret(utf8: "correct horse \u{e9}")
        let stored = try policy.hash(password)
        #expect(try policy.hash(password) != stored, "every hash has a new salt")
        let hash = try PasswordFormats.read(stored)
        #expect(try hash.matches(password))
        #expect(try !hash.matches(Secret(utf8: "correct horse")))
        #expect(!policy.needsRehash(of: hash))
        let decoy = try policy.decoy()
        #expect(decoy.cost == hash.cost)
        #expect(try !decoy.matches(password))
        #expect(!policy.needsRehash(of: decoy))
    }

    @Test(arguments: cheap)
    func `an empty password and a password longer than 1024 bytes are not hashed`(scheme: HashScheme) {
        let unusable = HashFault(.unusable, "")
        #expect(throws: unusable) { try HashPolicy(scheme).hash(Secret([])) }
        #expect(throws: unusable) { try HashPolicy(scheme).hash(Secret([UInt8](repeating: 0x61, count: 1025))) }
    }

    @Test func `a password that the scheme would truncate is not hashed`() {
        let unusable = HashFault(.unusable, "")
        let long = Secret([UInt8](repeating: 0x61, count: 73))
        let nul = Secret([0x61, 0])
        #expect(throws: unusable) { try HashPolicy(.bcrypt(cost: 4)).hash(long) }
        #expect(throws: unusable) { try HashPolicy(.sha512crypt(rounds: 1000)).hash(nul) }
        #expect(throws: unusable) { try HashPolicy(.pbkdf2SHA256(iterations: 1000)).hash(nul) }
        #expect(throws: unusable) { try HashPolicy(.scrypt(logN: 4, r: 8, p: 1)).hash(nul) }
    }

    @Test func `all bytes of a password of 1024 bytes are hashed`() throws {
        var bytes = [UInt8](repeating: 0x61, count: 1024)
        let hash = try PasswordFormats.read(HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)).hash(Secret(bytes)))
        #expect(try hash.matches(Secret(bytes)))
        bytes[1023] = 0x62
        #expect(try !hash.matches(Secret(bytes)))
    }

    @Test func `the standard policy is OWASP's minimum`() throws {
        #expect("\(HashPolicy.standard)" == "argon2id memory=19MiB passes=2 lanes=1")
        #expect(HashPolicy.standard.warning == nil)
        let stored = try HashPolicy.standard.hash(Secret(utf8: "secret"))
        #expect(stored.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(try PasswordFormats.read(stored).cost.memory == 19456 << 10)
    }

    @Test(arguments: [
        ("$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", false),
        ("$argon2id$v=19$m=128,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", false),
        ("$argon2id$v=19$m=64,t=2,p=4$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", false),
        ("$argon2id$v=19$m=63,t=9,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", true),
        ("$argon2id$v=19$m=256,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", true),
        ("$argon2id$v=16$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", true),
        ("$argon2i$v=19$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", true),
        ("$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", true),
        ("$2b$12$CCCCCCCCCCCCCCCCCCCCC.3WPQy/x8EhyouO1Eia.f.CS216k/lTq", true),
        ("{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==", true), ("CCX.K.MFy4Ois", true),
    ])
    func `a weaker hash and a hash of another scheme are replaced, a stronger hash is kept`(
        stored: String,
        wanted: Bool
    ) throws {
        let policy = HashPolicy(.argon2id(memory: 64, passes: 2, lanes: 1))
        #expect(try policy.needsRehash(of: PasswordFormats.read(stored)) == wanted)
    }

    @Test(arguments: [
        (HashScheme.bcrypt(cost: 5), "$2y$05$6bNw2HLQYeqHYyBfLMsv/OUcZd0LKP39b87nBw3.S2tVZSqiQX6eu", false),
        (.bcrypt(cost: 6), "$2y$05$6bNw2HLQYeqHYyBfLMsv/OUcZd0LKP39b87nBw3.S2tVZSqiQX6eu", true),
        (.yescrypt(cost: 5), "$y$j9T$huXYrFRxr5.EtlA/GqJQg1$R36Nu5MbY5YM0SzRaWbBPyGpM7KMcWtbUmBq5gDZA9B", false),
        (.yescrypt(cost: 6), "$y$j9T$huXYrFRxr5.EtlA/GqJQg1$R36Nu5MbY5YM0SzRaWbBPyGpM7KMcWtbUmBq5gDZA9B", true),
        (
            .pbkdf2SHA256(iterations: 1212),
            "$pbkdf2-sha256$1212$4vjV83LKPjQzk31VI4E0Vw$hsYF68OiOUPdDZ1Fg.fJPeq1h/gXXY7acBp9/6c.tmQ", false
        ),
        (
            .pbkdf2SHA256(iterations: 1213),
            "$pbkdf2-sha256$1212$4vjV83LKPjQzk31VI4E0Vw$hsYF68OiOUPdDZ1Fg.fJPeq1h/gXXY7acBp9/6c.tmQ", true
        ),
        (.bcrypt(cost: 5), "$bcrypt-sha256$v=2,t=2b,r=5$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS", true),
    ])
    func `each scheme compares its own parameters`(scheme: HashScheme, stored: String, wanted: Bool) throws {
        #expect(try HashPolicy(scheme).needsRehash(of: PasswordFormats.read(stored)) == wanted)
    }

    @Test(arguments: [
        (HashScheme.argon2id(memory: 46 << 10, passes: 1, lanes: 1), true),
        (.argon2id(memory: 19455, passes: 2, lanes: 1), false),
        (.argon2id(memory: 12 << 10, passes: 3, lanes: 1), true), (.argon2id(memory: 64, passes: 1, lanes: 1), false),
        (.yescrypt(cost: 5), true), (.yescrypt(cost: 4), false), (.bcrypt(cost: 10), true), (.bcrypt(cost: 9), false),
        (.scrypt(logN: 17, r: 8, p: 1), true), (.scrypt(logN: 16, r: 8, p: 1), false),
        (.scrypt(logN: 16, r: 8, p: 2), true),
        (.pbkdf2SHA256(iterations: 600_000), true), (.pbkdf2SHA256(iterations: 599_999), false),
        (.pbkdf2SHA512(iterations: 210_000), true), (.sha512crypt(rounds: 5000), false),
    ])
    func `a policy below OWASP's minimum has a warning`(scheme: HashScheme, isEnough: Bool) {
        #expect((HashPolicy(scheme).warning == nil) == isEnough)
    }
}
