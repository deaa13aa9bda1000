// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import Passwords
public import RealmKit

/// The settings of the `passwords` block of realms.conf.
public struct PasswordSettings: Sendable, Hashable {
    /// The algorithm and cost for new passwords.
    public var policy = HashPolicy.standard
    /// The resources for password checks; 0 workers stand for one per processor.
    public var slots = HashingSettings(workers: 0)

    /// The least number of characters of a new password.
    ///
    /// The default is 8, the minimum of NIST SP 800-63B and ASVS 6.2.1. As these advise, there is no other rule.
    public var minimumLength = 8

    /// The defaults.
    public init() {}

    /// Checks that a text may be a new password.
    ///
    /// - Parameter password: The text.
    /// - Throws: ``HashFault`` of code `unusable`, with the rule that is not met.
    public func check(_ password: Secret) throws(HashFault) {
        let length = password.withBytes { bytes in
            // Each character begins with a byte that is not a continuation byte.
            bytes.indices.count { bytes[$0] & 0xC0 != 0x80 }
        }
        guard length >= max(1, minimumLength) else {
            throw HashFault(.unusable, "a password has at least \(max(1, minimumLength)) characters")
        }
    }
}
