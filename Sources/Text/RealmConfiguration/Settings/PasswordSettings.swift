// SPDX-License-Identifier: Apache-2.0

public import Passwords
public import RealmKit

/// The settings of the `passwords` block of realms.conf.
public struct PasswordSettings: Sendable, Hashable {
    /// The algorithm and cost for new passwords.
    public var policy = HashPolicy.standard
    /// The limits for computing password hashes; 0 workers means one worker per processor.
    public var slots = HashingSettings(workers: 0)

    /// The minimum number of characters in a new password.
    ///
    /// The default is 8, the minimum of NIST SP 800-63B and ASVS 6.2.1. Both advise against composition rules, such as
    /// required digits.
    public var minimumLength = 8

    /// Creates the default settings.
    public init() {}

    /// Checks that a new password follows the rules.
    ///
    /// - Parameter password: The new password.
    /// - Throws: ``HashFault`` with the code `unusable` if it is refused.
    public func check(_ password: Secret) throws(HashFault) { try rules.check(password) }

    /// The rules for new passwords.
    public var rules: NewPasswordRules {
        var rules = NewPasswordRules()
        rules.minimumLength = minimumLength
        return rules
    }
}
