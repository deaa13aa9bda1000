// SPDX-License-Identifier: Apache-2.0

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

    @Test func `the error for a name that contradicts the hash names both, and nothing else of the text`() {
        #expect { try PasswordFormats.read("{SHA512-CRYPT}$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020") } throws: { error in
            "\(error)"
                == "{SHA512-CRYPT}: the hash behind the name is md5crypt; if the hash is right, remove {SHA512-CRYPT}"
        }
        #expect { try PasswordFormats.read("{ARGON2ID}hunter2") } throws: { error in
            "\(error)" == "{ARGON2ID}: there is no hash of argon2id behind the name"
        }
    }

    @Test(
        arguments: [
            ("$y$015$", "the flavor is not supported"), ("$y$k15$", "the parameters cannot be read"),
            ("$y$.15/.$", "the parameters do not fit together: flavor 0 has no t"),
            ("$y$j15.C$", "the parameters do not fit together: N must be at least 4 times p"),
            ("$y$j15.1$", "the parameters do not fit together: N must be at least 4 times p"),
            ("$gy$j15.1$", "the parameters do not fit together: N must be at least 4 times p"),
            ("$y$j15.0$", nil), ("$y$.15.C$", nil), ("$y$/15/.$", nil),
        ] as [(String, String?)]
    )
    func `parameters of yescrypt that do not fit together are named`(setting: String, fault: String?) {
        let stored = setting + "abcd$" + String(repeating: ".", count: 43)
        do {
            _ = try PasswordFormats.read(stored)
            #expect(fault == nil)
        } catch {
            #expect("\(error)".hasSuffix(": \(fault ?? "")"), "\(error)")
        }
    }

    /// Dovecot encodes digests in Base64 or hexadecimal digits, and any text if the name has a suffix.
    @Test(arguments: [
        "{PLAIN-MD5}098f6bcd4621d373cade4e832627b4f6", "{LDAP-MD5}098F6BCD4621D373CADE4E832627B4F6",
        "{md5}098f6bcd4621d373cade4e832627b4f6", "{PLAIN-MD5.b64}CY9rzUYh03PK3k6DJie09g==",
        "{MD5.HEX}098f6bcd4621d373cade4e832627b4f6", "{SHA1}a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        "{SSHA.HEX}1ffceb0eff055d4bb5266c2f5588a37eb604177e2355970e",
        "{DES-CRYPT.B64}Ly9Fc25HOUZMVEtqbw==", "{crypt.hex}2f2f45736e4739464c544b6a6f",
    ])
    func `a hash in another encoding of Dovecot matches its password`(stored: String) throws {
        let hash = try PasswordFormats.read(stored)
        #expect(try hash.matches(Secret(utf8: "test")))
        #expect(try !hash.matches(Secret(utf8: "tesT")))
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

    @Test func `GlassFish's SSHA256 is converted to a portable scheme`() throws {
        let stored = "{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw=="
        let password = Secret(utf8: "glassfish")
        #expect(try !PasswordFormats.read(stored).matches(password))
        let portable = GlassFishPassword.portable(stored)
        #expect(portable == "{GF-SSHA256}" + stored.dropFirst(9))
        #expect(try PasswordFormats.read(portable).matches(password))
        for same in ["{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==", "RESET", ""] {
            #expect(GlassFishPassword.portable(same) == same)
        }
    }
}
