// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// Wrong tokens of programs.
///
/// A token belongs to no account, so wrong tokens are counted by network: as the failures of an account without a
/// realm, whose name is the network. They are not added to the failed logins of the network. Otherwise a program with
/// an old token would prevent all users of its network from logging in.
extension FailureThrottle {
    /// Counts a wrong token and delays the response as after a failed login.
    ///
    /// A right token must be accepted even if the limit of wrong tokens is reached. A token cannot be guessed, and
    /// several programs may share an address.
    ///
    /// - Parameter network: The network of the program.
    public func refuseToken(from network: ClientNetwork) async {
        let begin = clock.now
        // A realm's name is never empty, so this account is not the account of a user.
        let account = Account(realm: "", key: network.description)
        let attempt = Attempt([account], from: nil)
        var failures = settings.failures
        do throws(BadUsername) {
            let name = try Username(network.description)
            if let admission = state.withLock({ $0.admit(attempt, at: moment) }), !admission.reserved.isEmpty {
                let results = [(key: ThrottleKey.account(account), result: AttemptResult.failure)]
                failures = settle(attempt, reserved: admission.reserved, by: name, results: results)
            }
        } catch {
            // The peer of a connection is always an address. If it were not, the response would get the longest delay.
        }
        await delay(failures: failures, since: begin)
    }

    /// Returns the network whose wrong tokens have reached the limit.
    ///
    /// - Parameter key: The key of a lock.
    /// - Returns: The network; nil if the lock is for a user or for the failed logins of a network.
    public static func networkOfTokens(_ key: ThrottleKey) -> String? {
        guard case .account(let account) = key, account.realm.isEmpty else { return nil }
        return account.key
    }
}
