// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The rules for new passwords, which a program provides to its realms in ``RealmServices``.
public struct NewPasswordRules: Sendable, Hashable {
    /// The minimum number of characters.
    ///
    /// The default is 8, the minimum of NIST SP 800-63B and ASVS 6.2.1. Both advise against composition rules, such as
    /// required digits.
    public var minimumLength = 8

    /// Creates the default rules.
    public init() {}

    /// Checks that a new password is long enough, and has no control characters.
    ///
    /// - Parameter password: The new password.
    /// - Throws: ``HashFault`` with the code `unusable` if it is too short, or has a control character.
    public func check(_ password: Secret) throws(HashFault) {
        guard !password.hasControlCharacter else {
            throw HashFault(.unusable, "a password cannot have control characters, such as a tab")
        }
        let length = password.withBytes { bytes in
            // In UTF-8, each character has exactly one byte that is not a continuation byte.
            bytes.indices.count { bytes[$0] & 0xC0 != 0x80 }
        }
        guard length >= max(1, minimumLength) else {
            throw HashFault(.unusable, "a password must have at least \(max(1, minimumLength)) characters")
        }
    }

    /// Returns why a new password is refused, as a text for the user; nil if it is accepted.
    public func refusal(of password: Secret) -> String? {
        do throws(HashFault) {
            try check(password)
            return nil
        } catch {
            return "The new password was not accepted: \(error.description)"
        }
    }
}
