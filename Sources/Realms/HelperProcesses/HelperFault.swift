// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The error for a helper process that has given no answer.
///
/// Two faults are equal if their codes are equal.
package struct HelperFault: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The program could not be started.
        case cannotStart = "cannot-start"
        /// The user that the helper runs as is unknown, or this program must not change to it.
        case unusableAccount = "unusable-account"
        /// The helper has exited, crashed or closed its channel before its answer was complete.
        case ended
        case timedOut = "timed-out"
        case cancelled
        /// The queue of waiting requests is full, no process was free in time, or the system has no more resources.
        case full
        /// The helper works, but a service of the system that it needs does not.
        case unavailable
        /// The helper has broken the protocol: it has sent too much, or something else than an answer.
        case malformed
    }

    package let code: Code
    /// The event for the log, without secrets.
    package let log: String
    /// True if the time was up although helpers have answered other requests in this time.
    package var isOverload = false

    package init(_ code: Code, _ log: String) {
        self.code = code
        self.log = log
    }

    /// Returns the fault of a login that had this one: `overloaded` for a fault of load, otherwise `unavailable`.
    package func loginFault(_ context: String = "") -> LoginFault {
        code == .full || isOverload ? .overloaded(context + log) : .unavailable(context + log)
    }

    package var description: String { log }
    package static func == (left: HelperFault, right: HelperFault) -> Bool { left.code == right.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
