// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The error for a server that has given no usable answer.
///
/// Two faults are equal if their codes are equal.
package struct ServerFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// No connection could be made: the server cannot be reached, or its certificate is rejected.
        case unreachable
        /// The server rejects the credentials of this program.
        ///
        /// It is not asked again for a minute, because it may lock the account of this program after some failures.
        case rejected
        /// The connection ended before the answer was complete.
        case lost
        /// The server has not answered in time.
        case timedOut = "timed-out"
        /// The server has answered that it cannot serve now.
        case unavailable
        /// The server has answered with an error of the configuration or of the data, such as a missing table.
        ///
        /// Another server would answer the same, so none is asked.
        case failed
        /// The caller has cancelled the call.
        case cancelled
        /// Too many calls wait for a connection.
        case full
    }

    /// The kind of the fault.
    package let code: Code
    /// The event for the log, without secrets.
    package let log: String

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - code: The kind of the fault.
    ///   - log: The event for the log, without secrets.
    package init(_ code: Code, _ log: String) {
        self.code = code
        self.log = Self.line(log)
    }

    /// Returns a text without control characters, which names in a directory or a database may contain.
    private static func line(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars { line.unicodeScalars.append(isControl(scalar) ? " " : scalar) }
        return line
    }

    /// True for characters that end a line, control a terminal or change the direction of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// True if another server may be able to answer.
    package var isOfOneServer: Bool {
        switch code {
        case .unreachable, .rejected, .lost, .timedOut, .unavailable: true
        case .failed, .cancelled, .full: false
        }
    }

    /// The text for the log.
    package var description: String { log }

    /// Compares the codes.
    package static func == (left: ServerFault, right: ServerFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
