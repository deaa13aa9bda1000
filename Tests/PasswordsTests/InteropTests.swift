// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmKit
import Testing

private let folder = ProcessInfo.processInfo.environment["GATEHOUSE_INTEROP"]

/// The Swift part of Tests/Interop/passwords.sh, which `make interop` runs.
@Suite(.enabled(if: folder != nil, "GATEHOUSE_INTEROP is not set; run make interop"))
struct InteropTests {
    private func lines(_ name: String) throws -> [[String]] {
        try String(contentsOfFile: #require(folder) + "/" + name, encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    }

    private func bytes(_ hex: String) throws -> [UInt8] {
        try stride(from: 0, to: hex.utf8.count, by: 2).map { place in
            let start = hex.index(hex.startIndex, offsetBy: place)
            return try #require(UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16))
        }
    }

    @Test func `hashes of other programs match only their own password`() throws {
        var counts: [String: Int] = [:]
        for line in try lines("theirs.tsv") {
            let (program, password, stored) = (line[0], try bytes(line[1]), line[2])
            let hash = try PasswordFormats.read(stored)
            #expect(try hash.matches(Secret(password)), "\(program) \(stored)")
            #expect(try !hash.matches(Secret(password.dropLast())), "\(program) \(stored)")
            counts[program, default: 0] += 1
        }
        for (program, count) in counts.sorted(by: { $0.key < $1.key }) { print("\(program): \(count) hashes matched") }
        #expect(!counts.isEmpty)
    }

    @Test func `hashes of Gatehouse are written to a file for other programs to check`() throws {
        let policies = [
            "argon2id memory=1MiB passes=2", "argon2id memory=2MiB passes=1 lanes=4", "yescrypt cost=1",
            "bcrypt cost=5",
            "sha512crypt rounds=1000", "sha512crypt rounds=5000", "scrypt ln=8", "pbkdf2-sha256 iterations=1000",
            "pbkdf2-sha512 iterations=1000",
        ]
        var text = ""
        for line in try lines("passwords.tsv") {
            let password = Secret(try bytes(line[0]))
            for words in policies {
                let policy = try HashPolicy(words: words.split(separator: " ").map(String.init))
                do {
                    text += "\(policy.scheme.name)\t\(line[0])\t\(try policy.hash(password))\n"
                } catch {
                    // Of these schemes only bcrypt rejects some of the passwords.
                    #expect(error.code == .unusable && policy.scheme.name == "bcrypt")
                }
            }
        }
        try text.write(toFile: #require(folder) + "/ours.tsv", atomically: true, encoding: .utf8)
    }
}
