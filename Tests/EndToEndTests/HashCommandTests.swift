// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse hash`: prints a hash for a file of users, or a statement for realms.conf.
@Suite struct HashCommandTests {
    @Test func `a hash has the configured algorithm and parameters, and a new salt each time`() async throws {
        let folder = try TemporaryFolder()
        let program = Program.built("gatehouse")
        // Without a configuration the defaults apply.
        let plain = try await Program.run(
            program,
            ["hash", "--password-stdin"],
            input: "correct horse\n",
            in: folder.url
        )
        #expect(plain.status == 0 && plain.errors == "", "\(plain)")
        #expect(plain.output.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(plain.output.count { $0 == "\n" } == 1)
        let again = try await Program.run(
            program,
            ["hash", "--password-stdin"],
            input: "correct horse\n",
            in: folder.url
        )
        #expect(again.output != plain.output)
        for (words, prefix) in [
            ("bcrypt cost=10", "$2b$10$"), ("yescrypt cost=5", "$y$"),
            ("sha512crypt rounds=210000", "$6$rounds=210000$"),
            ("pbkdf2-sha512 iterations=210000", "$pbkdf2-sha512$210000$"), ("scrypt ln=17", "$scrypt$ln=17,r=8,p=1$"),
        ] {
            try folder.write("passwords { hash \(words); }", to: "realms.conf")
            let hash = try await Program.run(
                program,
                ["hash", "--password-stdin"],
                input: "correct horse",
                in: folder.url
            )
            #expect(hash.status == 0 && hash.output.hasPrefix(prefix) && hash.errors == "", "\(words): \(hash)")
        }
        try folder.write("passwords { hash md5; }", to: "realms.conf")
        let bad = try await Program.run(program, ["hash", "--password-stdin"], input: "correct horse", in: folder.url)
        #expect(bad.status == 3 && bad.output == "" && bad.errors.hasPrefix("realms.conf:1:18: error: hash is one of "))
        let none = ["hash", "--password-stdin", "--config", "none.conf"]
        #expect(try await Program.run(program, none, input: "correct horse", in: folder.url).status == 3)
    }

    @Test func `the output of a calibration is a valid configuration`() async throws {
        let folder = try TemporaryFolder()
        let program = Program.built("gatehouse")
        let found = try await Program.run(program, ["hash", "--calibrate", "--time", "100"], in: folder.url)
        #expect(found.status == 0 && found.errors == "", "\(found)")
        #expect(found.output.hasPrefix("# "))
        try folder.write(found.output, to: "realms.conf")
        let check = try await Program.run(program, ["check"], in: folder.url)
        // Hashing needs no realm, so the only thing to say is that there is none.
        #expect(check.status == 0 && check.errors.hasPrefix("realms.conf: warning: there is no realm and no protect"))
        #expect(!check.errors.contains("error") && check.errors.split(separator: ": warning: ").count == 2, "\(check)")
        let hash = try await Program.run(program, ["hash", "--password-stdin"], input: "correct horse", in: folder.url)
        #expect(hash.output.hasPrefix("$argon2id$v=19$m="))
    }

    @Test func `a calibration warns if the time or the memory is too small`() async throws {
        let folder = try TemporaryFolder()
        let program = Program.built("gatehouse")
        let late = try await Program.run(program, ["hash", "--calibrate", "--time", "1"], in: folder.url)
        #expect(late.status == 0)
        #expect(late.output.contains("# this is longer than --time"), "\(late)")
        let little = try await Program.run(
            program,
            ["hash", "--calibrate", "--time", "1", "--memory", "8"],
            in: folder.url
        )
        #expect(little.output.contains("# warning: argon2id memory=8MiB"), "\(little)")
        try folder.write(little.output, to: "realms.conf")
        #expect(try await Program.run(program, ["check"], in: folder.url).status == 0)
    }
}
