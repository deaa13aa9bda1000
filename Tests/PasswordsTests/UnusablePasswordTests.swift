// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import Testing

@Suite struct UnusablePasswordTests {
    private static let bcrypt = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.3WPQy/x8EhyouO1Eia.f.CS216k/lTq"

    private func fault(_ stored: String, _ password: [UInt8]) throws -> HashFault? {
        let hash = try PasswordFormats.read(stored)
        do {
            _ = try hash.matches(Secret(password))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: HashVector.all)
    func `a password of more than 1024 bytes is unusable with every format`(vector: HashVector) throws {
        let hash = try vector.read()
        #expect(throws: HashFault(.unusable, "")) { try hash.matches(Secret([UInt8](repeating: 0x61, count: 1025))) }
    }

    @Test func `bcrypt accepts 72 bytes, and rejects a longer password instead of truncating it`() throws {
        #expect(try fault(Self.bcrypt, [UInt8](repeating: 0x61, count: 72)) == nil)
        #expect(try fault(Self.bcrypt, [UInt8](repeating: 0x61, count: 73))?.code == .unusable)
        let vector = HashVector.crypt[3]
        #expect(try vector.read().matches(vector.secret))
        #expect(try fault(vector.stored, vector.password + Array("more".utf8))?.code == .unusable)
    }

    @Test func `a password is rejected if DES would ignore some of its bytes or bits`() throws {
        #expect(try fault("CC4rMpbg9AMZ.", Array("U*U***U*x".utf8))?.code == .unusable)
        #expect(try fault("CC4rMpbg9AMZ.", [0xd5] + Array("*U***U*".utf8))?.code == .unusable)
        #expect(try fault("_J9..CCCCXBrJUJV154M", [0xd5] + Array("*U*U*U*".utf8))?.code == .unusable)
    }

    @Test func `a password with a NUL byte is never passed to crypt(3)`() throws {
        for vector in HashVector.crypt {
            let fault = try fault(vector.stored, vector.password + [0])
            #expect(fault?.code == .unusable, "\(vector.stored)")
        }
    }

    @Test func `crypt(3) takes at most 511 bytes`() throws {
        let stored = "$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020"
        #expect(try fault(stored, [UInt8](repeating: 0x61, count: 511)) == nil)
        #expect(try fault(stored, [UInt8](repeating: 0x61, count: 512))?.code == .unusable)
    }

    @Test func `the error for an unusable password does not quote the password`() throws {
        let password = "correct horse battery staple" + String(repeating: "!", count: 72)
        let fault = try #require(try fault(Self.bcrypt, Array(password.utf8)))
        #expect(!fault.description.contains("horse"))
        #expect(fault.description == "the password has 100 bytes; bcrypt takes at most 72")
    }

    /// The arguments are a hash, a password, the bytes that the hash covers, and a password that differs in these bytes.
    @Test(arguments: [
        (bcrypt72, String(repeating: "a", count: 72) + "more", 72 as Int?, String(repeating: "a", count: 71) + "bmore"),
        ("bcrypt$" + bcrypt72, String(repeating: "a", count: 100), 72, String(repeating: "b", count: 100)),
        ("{CRYPT}zZDDIZ0NOlPzw", "password and more", 8, "passwort and more"),
        ("zZDDIZ0NOlPzw", "password", 8, "passwor"),
        ("zZtq7T7KXVVRE", "p\u{E1}", 8, "q\u{E1}"),
        ("$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020", "test", nil, "test2"),
    ])
    func `a password that the format truncates is accepted only with the option`(
        stored: String,
        password: String,
        count: Int?,
        wrong: String
    ) throws {
        let secret = Secret(utf8: password)
        var options = FormatOptions()
        options.acceptsTruncated = true
        let (strict, lenient) = (try PasswordFormats.read(stored), try PasswordFormats.read(stored, options: options))
        #expect(strict.truncatesAfter == count && lenient.truncatesAfter == count && lenient.cost == strict.cost)
        let isTruncated = strict.ignoresPart(of: secret)
        #expect(isTruncated == lenient.ignoresPart(of: secret))
        if isTruncated {
            #expect(throws: HashFault(.unusable, "")) { try strict.matches(secret) }
        } else {
            #expect(try strict.matches(secret))
        }
        #expect(try lenient.matches(secret))
        #expect(try !lenient.matches(Secret(utf8: wrong)))
        #expect(try !lenient.decoy.matches(secret))
        #expect(HashPolicy(.bcrypt(cost: 4)).covers(secret) == (password.utf8.count <= 72))
        #expect(HashPolicy.standard.covers(secret))
    }

    /// The bcrypt hash of 72 letters `a`.
    private static let bcrypt72 = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.mDyzbhj.9K0apb9O/AGMWwoLXiYAu6u"

    /// The marks of shadow(5), passwd(5), Solaris, FreeBSD, Tru64, Django, GlassFish and directories.
    @Test(arguments: [
        "", "!", "!!", "!*", "*", "**", "*LK*", "*LK*$5$salt$hash", "*LOCKED*$6$salt$hash", "*NP*", "*0", "x", "NP",
        "LK", "UP",
        "Nologin", "RESET", "!bpl6yOQnr5KfNTvGKfdVpGFnLVtNcWbVtJdhLHzb", "{CRYPT}", "{CRYPT}!", "{crypt}x",
        "{SHA512-CRYPT}!!",
        "{SSHA}*", "{nologin}", "{NOPASSWORD}x", "{disabled}", "{LOCKED}$6$salt$hash", "{None}",
    ])
    func `a mark for no password is known, and is no hash`(mark: String) {
        #expect(PasswordFormats.isNoPassword(mark))
        #expect(throws: BadHash.self) { try PasswordFormats.read(mark) }
    }

    @Test(arguments: [
        "X", "np", "secret", "xx", "{SSHA}", "{PLAIN}!", "{PLAIN}", "{NOBODY}x", " ", "zZDDIZ0NOlPzw", "$6$salt$hash",
        "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
    ])
    func `another text is no mark for no password`(text: String) {
        #expect(!PasswordFormats.isNoPassword(text))
    }

    @Test func `a hash of the broken bcrypt variant 2x is rejected with the reason`() {
        #expect { try PasswordFormats.read("$2x$05$6bNw2HLQYeqHYyBfLMsv/OUcZd0LKP39b87nBw3.S2tVZSqiQX6eu") } throws: {
            "\($0)".contains("broken implementation")
        }
    }

    @Test(arguments: MalformedHash.all)
    func `a malformed hash is rejected`(stored: String) {
        #expect(throws: BadHash.self) { try PasswordFormats.read(stored) }
    }
}
