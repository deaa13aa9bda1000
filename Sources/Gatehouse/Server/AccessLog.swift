// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// The access log: one line for each request, with the client, the user, the request, the response and the duration.
///
/// A line never contains a query, a header field or anything else that may be a secret. Text from a client is quoted,
/// so that it cannot forge another line.
struct AccessLog {
    private let logger: Logger
    private let clock: SystemClock
    /// True if the access log is enabled.
    let isEnabled: Bool

    init(_ logger: Logger, clock: SystemClock, isEnabled: Bool) {
        self.logger = logger
        self.clock = clock
        self.isEnabled = isEnabled
    }

    /// The contents of a line.
    struct Entry {
        var peer: String?
        var user: (username: Username, realm: String)?
        var method = "-"
        /// The path; nil if it is ambiguous.
        var path: String?
        var status = 0
        var length = 0
        /// The reason for a denied request.
        var reason = ""
    }

    /// The present time of the clock; 0 if the access log is disabled.
    var now: UInt64 { isEnabled ? clock.now : 0 }

    /// Writes the line of a request.
    func write(_ entry: Entry, since begin: UInt64) {
        let user = entry.user.map { "\(LogText.quoted($0.username.text))@\(LogText.quoted($0.realm))" } ?? "-"
        let target = entry.path.map { LogText.quoted($0) } ?? "(ambiguous path)"
        let microseconds = (clock.now &- begin) / 1000
        logger.info(
            "\(entry.peer ?? "-") \(user) \(LogText.quoted(entry.method)) \(target) \(entry.status) \(entry.length) \(microseconds)us\(entry.reason)"
        )
    }
}
