// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmKit
internal import Store
internal import Throttle

/// The failed logins and locks of accounts, as the server has stored them.
struct AccountLocks: Sendable {
    private var records: [ThrottleKey: ThrottleRecord] = [:]

    /// No failed logins.
    static let none = AccountLocks([])

    init(_ records: [ThrottleRecord]) {
        for record in records { self.records[record.key] = record }
    }

    /// Reads the failed logins of a store.
    ///
    /// - Parameter store: The store; nil if the program has none.
    /// - Throws: ``CommandError`` if the store cannot be read.
    init(_ store: LazyStore?) async throws(CommandError) {
        do {
            self.init(try await store?.present()?.load().records ?? [])
        } catch {
            throw CommandError(.unavailable, "the locks could not be read: \(error)")
        }
    }

    /// Returns the failed logins of a user; nil if there are none.
    func record(of user: Username, in realm: BoundRealm) -> ThrottleRecord? {
        records[.account(realm.account(of: user))]
    }
}

extension Lockout {
    /// The end and the reason of the lock, such as `until 2027-01-31T10:00:00Z (10 failed logins)`.
    var text: String { "until \(UTCTime.text(end)) (\(FailedLogins.text(failures)))" }
}

/// A number of failed logins, for administrators.
enum FailedLogins {
    static func text(_ count: Int) -> String { count == 1 ? "1 failed login" : "\(count) failed logins" }
}
