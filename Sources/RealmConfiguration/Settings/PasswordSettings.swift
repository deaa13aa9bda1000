// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import Passwords

/// What the `passwords` block of realms.conf says.
public struct PasswordSettings: Sendable, Hashable {
    /// How new passwords are hashed.
    public var policy = HashPolicy.standard
    /// How much of the machine checks may take; 0 workers stand for one per processor.
    public var slots = HashingSettings(workers: 0)

    /// The defaults.
    public init() {}
}
