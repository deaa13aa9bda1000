// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit

/// The error for a server that has given no usable answer; two are equal if their codes are equal.
package struct ServerFault: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// No connection could be made: the server cannot be reached, or its certificate is rejected.
        case unreachable
        /// The server rejects the credentials of this program, and may lock its account after some failures, so it is not
        /// asked again for a minute.
        case rejected
        /// The connection ended before the answer was complete.
        case lost
        /// The server has not answered in time.
        case timedOut = "timed-out"
        /// The server has answered that it cannot serve now.
        case unavailable
        /// The server has answered that it has too much to do, or too many connections.
        case overloaded
        /// The server has answered with an error of the configuration or of the data, such as a missing table, as any other
        /// server would.
        case failed
        /// The caller has cancelled the call.
        case cancelled
        /// Too many calls wait for a connection.
        case full
    }

    package let code: Code
    /// The event for the log, without secrets.
    package let log: String

    package init(_ code: Code, _ log: String) {
        self.code = code
        // Names in a directory or a database may contain control characters.
        self.log = LineText.line(log)
    }

    /// True if another server may be able to answer.
    package var isOfOneServer: Bool {
        switch code {
        case .unreachable, .rejected, .lost, .timedOut, .unavailable, .overloaded: true
        case .failed, .cancelled, .full: false
        }
    }

    /// The fault of a login that had this one: `overloaded` for a fault of load, otherwise `unavailable`.
    package var loginFault: LoginFault {
        switch code {
        case .full, .overloaded: .overloaded(log)
        case .unreachable, .rejected, .lost, .timedOut, .unavailable, .failed, .cancelled: .unavailable(log)
        }
    }

    /// The fault for a user with more groups than allowed: one that denies access must not be missing.
    package static func tooManyGroups(maximum: Int) -> ServerFault {
        ServerFault(.failed, "the user has more than \(maximum) groups (maximum-groups)")
    }

    package var description: String { log }

    package static func == (left: ServerFault, right: ServerFault) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
