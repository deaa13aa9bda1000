// SPDX-License-Identifier: Apache-2.0

import CHashes
import Foundation
import Passwords
import RealmKit

/// Compares password checks by `PasswordHash.matches` with bare calls of the library that computes the hash.
///
/// Both are called in turn, and the processor time of this thread is measured. The result is the median of each, and the
/// median of the ratios of successive calls. The ratios do not change if the machine is slower for a while.
enum PasswordChecks {
    struct Line {
        let name: String
        let ours: Double
        let bare: Double
        let ratio: Double
    }

    private static let password = "correct horse battery staple"

    static func all(rounds: Int = 30) throws -> [Line] {
        let data = gatehouse_crypt_data()
        func crypt(_ stored: String) -> Bool {
            guard let hash = crypt_r(password, stored, data) else { return false }
            return strcmp(hash, stored) == 0
        }
        return [
            try line("argon2id m=19456,t=2,p=1", "argon2id", rounds) { _, salt, key in
                argon2_hash(
                    2,
                    19456,
                    1,
                    password,
                    password.utf8.count,
                    salt,
                    salt.count,
                    &key,
                    32,
                    nil,
                    0,
                    Argon2_id,
                    0x13
                ) == 0
            },
            try line("yescrypt j9T", "yescrypt", rounds) { stored, _, _ in crypt(stored) },
            try line("bcrypt cost=8", "bcrypt cost=8", rounds) { stored, _, _ in crypt(stored) },
            try line("sha512crypt rounds=5000", "sha512crypt rounds=5000", 4 * rounds) { stored, _, _ in crypt(stored)
            },
            try line("scrypt ln=14,r=8,p=1", "scrypt ln=14", rounds) { _, salt, key in
                EVP_PBE_scrypt(password, password.utf8.count, salt, salt.count, 1 << 14, 8, 1, 1 << 25, &key, 32) == 1
            },
            try line("pbkdf2-sha256 i=20000", "pbkdf2-sha256 iterations=20000", 4 * rounds) { _, salt, key in
                let (count, saltCount) = (Int32(password.utf8.count), Int32(salt.count))
                return PKCS5_PBKDF2_HMAC(password, count, salt, saltCount, 20000, EVP_sha256(), 32, &key) == 1
            },
        ]
    }

    private static func line(
        _ name: String,
        _ words: String,
        _ rounds: Int,
        _ bare: (_ stored: String, _ salt: [UInt8], _ key: inout [UInt8]) -> Bool
    ) throws -> Line {
        let policy = try HashPolicy(words: words.split(separator: " ").map(String.init))
        let secret = Secret(utf8: password)
        let stored = try policy.hash(secret)
        let hash = try PasswordFormats.read(stored)
        let salt = [UInt8](repeating: 7, count: 16)
        var key = [UInt8](repeating: 0, count: 32)
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            // The order alternates, because the first call finds other caches than the second one.
            if round % 2 == 0 { ours.append(try time { try hash.matches(secret) }) }
            theirs.append(try time { bare(stored, salt, &key) })
            if round % 2 == 1 { ours.append(try time { try hash.matches(secret) }) }
        }
        let ratios = zip(ours, theirs).map { $0 / $1 }
        return Line(name: name, ours: median(ours), bare: median(theirs), ratio: median(ratios))
    }

    private static func time(_ body: () throws -> Bool) throws -> Double {
        let begin = threadTime()
        guard try body() else { fatalError("a password that must match did not") }
        return (threadTime() - begin) * 1000
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
