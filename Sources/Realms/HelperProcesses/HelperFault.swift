// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The error for a helper process that has given no answer.
///
/// Two faults are equal if their codes are equal.
package struct HelperFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults.
    package enum Code: String, Sendable, Hashable {
        /// The program could not be started.
        case cannotStart = "cannot-start"
        /// The user that the helper runs as is unknown, or this program must not change to it.
        case unusableAccount = "unusable-account"
        /// The helper has exited, crashed or closed its channel before its answer was complete.
        case ended
        /// The time is up.
        case timedOut = "timed-out"
        /// The caller has cancelled the request.
        case cancelled
        /// The queue of waiting requests is full, no process was free in time, or the system has no more resources.
        case full
        /// The helper works, but a service of the system that it needs does not.
        case unavailable
        /// The helper has broken the protocol: it has sent too much, or something else than an answer.
        case malformed
    }

    /// The kind of the fault.
    package let code: Code
    /// The event for the log, without secrets.
    package let log: String
    /// True if the time was up although helpers have answered other requests in this time.
    package var isOverload = false

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - code: The kind of the fault.
    ///   - log: The event for the log, without secrets.
    package init(_ code: Code, _ log: String) {
        self.code = code
        self.log = log
    }

    /// Returns the fault of a login that had this one: `overloaded` for a fault of load, otherwise `unavailable`.
    ///
    /// - Parameter context: A text before that of this fault.
    /// - Returns: The fault.
    package func loginFault(_ context: String = "") -> LoginFault {
        code == .full || isOverload ? .overloaded(context + log) : .unavailable(context + log)
    }

    /// The text for the log.
    package var description: String { log }

    /// Compares the codes.
    package static func == (left: HelperFault, right: HelperFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
