// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import Testing

/// A password and its published hash.
struct HashVector: Sendable, CustomTestStringConvertible {
    let password: [UInt8]
    let stored: String
    var options = FormatOptions()

    init(_ password: String, _ stored: String, isGlassFish: Bool = false) {
        self.init(bytes: Array(password.utf8), stored)
        options.isGlassFish = isGlassFish
    }

    init(bytes password: [UInt8], _ stored: String) {
        self.password = password
        self.stored = stored
    }

    var testDescription: String { stored }

    var secret: Secret { Secret(password) }

    func read() throws -> PasswordHash { try PasswordFormats.read(stored, options: options) }

    /// True if a check takes about a tenth of a second.
    ///
    /// Tests compute only a few such checks.
    var isCostly: Bool {
        ["{pbkdf2", "{scrypt", "{bcrypt", "$y$", "$gy$", "$7$", "$wp$"].contains(where: stored.hasPrefix)
            || ["m=65536", "m=32768"].contains(where: stored.contains)
    }

    static let all = argon2 + crypt + directories + frameworks

    /// Passwords of passlib/tests/test_handlers.py with letters of several scripts.
    static let table = "t\u{e1}\u{411}\u{2113}\u{259}"
    static let wav = "\u{399}\u{3c9}\u{3b1}\u{3bd}\u{3bd}\u{3b7}\u{3c2}"
}
