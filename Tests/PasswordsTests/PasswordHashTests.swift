// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Passwords
import RealmKit
import Testing

@Suite struct PasswordHashTests {
    @Test(arguments: HashVector.all)
    func `a published hash matches its password, and does not match similar passwords`(vector: HashVector) throws {
        let hash = try vector.read()
        #expect(try hash.matches(vector.secret))
        var wrong: [[UInt8]] = [[], vector.password + [0], Array(vector.password.dropLast())]
        if !vector.isCostly {
            wrong.append([vector.password[0] ^ 1] + vector.password.dropFirst())
            wrong.append(vector.password + [0x78])
            wrong.append([0x20] + vector.password)
        }
        for password in wrong {
            do {
                #expect(try !hash.matches(Secret(password)))
            } catch {
                #expect(error.code == .unusable)
            }
        }
    }

    @Test(arguments: HashVector.all)
    func `a decoy has the same cost and matches no password`(vector: HashVector) throws {
        let hash = try vector.read()
        #expect(hash.decoy.cost == hash.cost)
        #expect(hash.decoy.decoy.cost == hash.cost)
        #expect(try !hash.decoy.matches(vector.secret))
    }

    @Test func `a text of an unknown format is rejected`() {
        for text in [
            "hello", "", " ", "secret", "helloworld123", "{NOBODY}abc", "$9$abc$def", "*", "!", "x", "{", "{}x", "$",
        ] {
            #expect(throws: BadHash.self) { try PasswordFormats.read(text) }
        }
    }

    @Test func `the error for an unknown scheme quotes only the name of the scheme`() {
        #expect { try PasswordFormats.read("{NOBODY}verysecret") } throws: { error in
            "\(error)" == "the scheme {NOBODY} is not supported"
        }
    }

    @Test(arguments: ["{CLEAR}", "{CLEARTEXT}", "{PLAIN}", "{noop}", "{Plain}"])
    func `clear text is read only if it is allowed and has a prefix`(mark: String) throws {
        #expect(throws: BadHash.self) { try PasswordFormats.read(mark + "secret") }
        var options = FormatOptions()
        options.allowsClearText = true
        let hash = try PasswordFormats.read(mark + "secret", options: options)
        #expect(try hash.matches(Secret(utf8: "secret")))
        #expect(try !hash.matches(Secret(utf8: "secre")))
        #expect(try !hash.matches(Secret(utf8: "secrets")))
        #expect(!"\(hash)".contains("secret"))
        #expect(throws: BadHash.self) { try PasswordFormats.read(mark, options: options) }
        #expect(throws: BadHash.self) { try PasswordFormats.read("secret", options: options) }
    }

    @Test func `the names of all formats are listed without repetitions`() {
        #expect(Set(PasswordFormats.names).count == PasswordFormats.names.count)
        #expect(PasswordFormats.names.contains("argon2id"))
    }

    @Test func `GlassFish's SSHA256 is converted to a portable scheme and back`() throws {
        let stored = "{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw=="
        let password = Secret(utf8: "glassfish")
        #expect(try !PasswordFormats.read(stored).matches(password))
        let portable = GlassFishPassword.portable(stored)
        #expect(portable == "{GF-SSHA256}" + stored.dropFirst(9))
        #expect(try PasswordFormats.read(portable).matches(password))
        #expect(GlassFishPassword.inKeyFile(portable) == stored)
        #expect(GlassFishPassword.inKeyFile(stored) == nil)
        for same in ["{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==", "RESET", ""] {
            #expect(GlassFishPassword.portable(same) == same)
            #expect(GlassFishPassword.inKeyFile(same) == same)
        }
    }
}
