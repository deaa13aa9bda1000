// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import Passwords
public import RealmKit

/// What the `passwords` block of realms.conf says.
public struct PasswordSettings: Sendable, Hashable {
    /// How new passwords are hashed.
    public var policy = HashPolicy.standard
    /// How much of the machine checks may take; 0 workers stand for one per processor.
    public var slots = HashingSettings(workers: 0)

    /// How many characters a new password has at the least.
    ///
    /// The default is 8, the least of NIST SP 800-63B and of ASVS 6.2.1; nothing else is asked of it, as they say.
    public var minimumLength = 8

    /// The defaults.
    public init() {}

    /// Whether a text may be a new password.
    ///
    /// - Parameter password: The text.
    /// - Throws: ``HashFault`` of code `unusable`, which says what is missing.
    public func check(_ password: Secret) throws(HashFault) {
        let length = password.withBytes { bytes in
            // Bytes that do not continue a character begin one.
            bytes.indices.count { bytes[$0] & 0xC0 != 0x80 }
        }
        guard length >= max(1, minimumLength) else {
            throw HashFault(.unusable, "a password has at least \(max(1, minimumLength)) characters")
        }
    }
}
