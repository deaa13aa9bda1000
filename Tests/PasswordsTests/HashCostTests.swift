// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Passwords
import RealmKit
import Testing

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
        (
            "{pbkdf2}5d923b44a6d129f3ddf3e3c8d29412723dcbde72445e8ef6bf3b508fbf17fa4ed4d6b99ca763d8dc",
            "pbkdf2-sha1 i=185000,blocks=2"
        ),
    ])
    func `a cost names the method and the parameters that determine its time`(stored: String, text: String) throws {
        #expect(try PasswordFormats.read(stored).cost.description == text)
    }
}
