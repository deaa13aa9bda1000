// SPDX-License-Identifier: Apache-2.0

/// The numbers of locks and waiting attempts of a throttle at one moment.
package struct ThrottleStatistics: Sendable, Hashable {
    /// The number of locked accounts.
    package let lockedAccounts: Int
    /// The number of locked client networks.
    package let lockedNetworks: Int
    /// The number of attempts that wait until another attempt has ended.
    package let waitingAttempts: Int
}
