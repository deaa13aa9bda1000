// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

@testable import Passwords

@Suite struct HashCostTests {
    private static let hash43 = String(repeating: ".", count: 43)

    /// The memory is the measured growth of the resident set of a process, with libxcrypt 4.4.33.
    @Test(arguments: [
        ("$y$j75$PKXc3hCOSyMqdaEQArI62/$", 1 << 20, "yescrypt ln=10,r=8"),
        ("$y$j7T$PKXc3hCOSyMqdaEQArI62/$", 4 << 20, "yescrypt ln=10,r=32"),
        ("$y$j9T$PKXc3hCOSyMqdaEQArI62/$", 16 << 20, "yescrypt ln=12,r=32"),
        ("$y$jBT$PKXc3hCOSyMqdaEQArI62/$", 64 << 20, "yescrypt ln=14,r=32"),
        ("$y$jD5.7$LdJMENpBABJJ3hIHjB1Bi.$", 64 << 20, "yescrypt ln=16,r=8,p=11"),
        ("$y$/A4$abcd$", 7 << 20, "yescrypt ln=13,r=7,flavor=1"),
        ("$gy$j9T$PKXc3hCOSyMqdaEQArI62/$", 16 << 20, "gost-yescrypt ln=12,r=32"),
        ("$7$CU..../....SodiumChloride$", 64 << 20, "scrypt7 ln=14,r=32,p=1"),
    ])
    func `the memory of a memory-hard method is computed from its parameters`(
        setting: String,
        memory: Int,
        text: String
    ) throws {
        let cost = try PasswordFormats.read(setting + Self.hash43).cost
        #expect(cost.memory == memory)
        #expect(cost.description == text)
    }

    @Test(arguments: [
        ("{CRYPT}$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020", "md5crypt"), ("CCX.K.MFy4Ois", "descrypt"),
        ("_J9..CCCCXBrJUJV154M", "bsdicrypt rounds=725"),
        ("$md5$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/", "sunmd5 rounds=4096"),
        ("$5$LKO/Ute40T3FNF95$8Ry82xGnnPI/6HtFYnvPBTYgOL23sdMXn8C29aO.x/A", "sha256crypt rounds=5000"),
        ("{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==", "sha1"),
        ("{GF-SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw==", "sha256 rounds=100"),
        ("{TOMCAT-SHA-1}0102030405060708$3$\(String(repeating: "00", count: 20))", "sha1 rounds=3"),
        ("{TOMCAT-PBKDF2-SHA256}01$1000$\(String(repeating: "00", count: 20))", "pbkdf2-sha256 i=1000"),
        ("bcrypt$$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "bcrypt cost=5"),
        ("$P$B12345678L6Lpt4BxNotVIMILOa9u81", "phpass rounds=8192"),
        (
            "$wp$2y$10$607XKVrBjPEqujeOXNwbYuOJ.gPMd2TelMMknmeV70Kap1E81Ovo6",
            "bcrypt-hmac-sha384-base64 cost=10"
        ),
        (
            "{pbkdf2}5d923b44a6d129f3ddf3e3c8d29412723dcbde72445e8ef6bf3b508fbf17fa4ed4d6b99ca763d8dc",
            "pbkdf2-sha1 i=185000,blocks=2"
        ),
    ])
    func `a cost names the method and the parameters that determine its time`(stored: String, text: String) throws {
        #expect(try PasswordFormats.read(stored).cost.description == text)
    }

    private static let bcrypt53 = String(repeating: ".", count: 53)

    /// Every kind of hash has a cost that takes too long for every login of a realm, and one that does not.
    @Test(arguments: [
        ("$2b$16$\(bcrypt53)", "$2b$15$\(bcrypt53)"),
        ("$wp$2y$16$\(bcrypt53)", "$wp$2y$15$\(bcrypt53)"),
        ("$P$I12345678L6Lpt4BxNotVIMILOa9u81", "$P$H12345678L6Lpt4BxNotVIMILOa9u81"),
        (
            "$bcrypt-sha256$v=2,t=2b,r=16$\(String(repeating: ".", count: 22))$\(String(repeating: ".", count: 31))",
            "$bcrypt-sha256$v=2,t=2b,r=12$\(String(repeating: ".", count: 22))$\(String(repeating: ".", count: 31))"
        ),
        (
            "$6$rounds=9000000$saltsalt$\(String(repeating: ".", count: 86))",
            "$6$rounds=500000$saltsalt$\(String(repeating: ".", count: 86))"
        ),
        ("$5$rounds=9000000$saltsalt$\(hash43)", "$5$saltsalt$\(hash43)"),
        ("$y$jFT$PKXc3hCOSyMqdaEQArI62/$\(hash43)", "$y$j9T$PKXc3hCOSyMqdaEQArI62/$\(hash43)"),
        ("$gy$jFT$PKXc3hCOSyMqdaEQArI62/$\(hash43)", "$gy$j9T$PKXc3hCOSyMqdaEQArI62/$\(hash43)"),
        (
            "$scrypt$ln=20,r=8,p=1$c2FsdA$\(String(repeating: "A", count: 43))",
            "$scrypt$ln=17,r=8,p=1$c2FsdA$\(String(repeating: "A", count: 43))"
        ),
        (
            "$argon2id$v=19$m=1048576,t=8,p=1$c2FsdHNhbHRzYWx0$\(String(repeating: "A", count: 43))",
            "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0$\(String(repeating: "A", count: 43))"
        ),
        (
            "$pbkdf2-sha256$9000000$c2FsdA$\(String(repeating: "A", count: 43))",
            "$pbkdf2-sha256$1000000$c2FsdA$\(String(repeating: "A", count: 43))"
        ),
        (
            "{TOMCAT-PBKDF2-SHA512}01$5000000$\(String(repeating: "00", count: 20))",
            "{TOMCAT-PBKDF2-SHA512}01$210000$\(String(repeating: "00", count: 20))"
        ),
        (
            "{TOMCAT-SHA-1}01$9000000$\(String(repeating: "00", count: 20))",
            "{TOMCAT-SHA-1}01$1000$\(String(repeating: "00", count: 20))"
        ),
        (
            "$sha1$9000000$saltsalt$\(String(repeating: ".", count: 28))",
            "$sha1$40000$saltsalt$\(String(repeating: ".", count: 28))"
        ),
        (
            "$md5,rounds=1000000$saltsalt$\(String(repeating: ".", count: 22))",
            "$md5,rounds=5000$saltsalt$\(String(repeating: ".", count: 22))"
        ),
        ("_zzzz....\(String(repeating: ".", count: 11))", "_J9......\(String(repeating: ".", count: 11))"),
    ])
    func `a hash that would take too long for every login is never computed`(dear: String, usual: String) throws {
        let now: @Sendable () -> UInt64 = { 0 }
        var settings = HashingSettings(workers: 1)
        settings.memory = 4 << 30
        let service = try PasswordService(policy: .standard, pool: HashingPool(settings, now: now))
        let (above, within) = (try PasswordFormats.read(dear).cost, try PasswordFormats.read(usual).cost)
        #expect(service.limitFault(above)?.contains("longest-check (2.0 s)") == true, "\(above): \(above.time)")
        #expect(service.limitFault(within) == nil, "\(within): \(within.time)")
        // The administrator's own policy may take longer.
        let dearPolicy = try PasswordService(
            policy: HashPolicy(.bcrypt(cost: 17)),
            pool: HashingPool(settings, now: now)
        )
        #expect(dearPolicy.limitFault(try PasswordFormats.read("$2b$17$\(Self.bcrypt53)").cost) == nil)
        settings.longestCheck = .seconds(60)
        let patient = try PasswordService(policy: .standard, pool: HashingPool(settings, now: now))
        #expect(patient.limitFault(above) == nil)
    }

    private static func cost(_ name: String, _ milliseconds: Int) -> HashCost {
        HashCost(format: name, time: .milliseconds(milliseconds))
    }

    @Test func `of many costs the dearest are checked, in number and in sum`() {
        let many = (1...20).map { Self.cost("\($0)", $0) }
        #expect(
            HashCost.checked(of: many, longestCheck: .seconds(2)).map(\.format) == (13...20).reversed().map { "\($0)" }
        )
        let dear = [Self.cost("a", 1500), Self.cost("b", 2000), Self.cost("c", 1000), Self.cost("d", 1900)]
        #expect(HashCost.checked(of: dear, longestCheck: .seconds(2)).map(\.format) == ["b", "d"])
        #expect(HashCost.checked(of: [Self.cost("a", 9000)], longestCheck: .seconds(2)).count == 1)
        #expect(HashCost.warning(about: many, longestCheck: .seconds(2))?.contains("of the 8 dearest: 20; 19") == true)
        #expect(HashCost.warning(about: Array(many[..<4]), longestCheck: .seconds(2))?.contains("of each cost") == true)
        #expect(HashCost.warning(about: Array(many[..<3]), longestCheck: .seconds(2)) == nil)
    }
}
