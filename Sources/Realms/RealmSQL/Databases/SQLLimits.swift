// SPDX-License-Identifier: Apache-2.0

internal import ServerConnections

/// The limits of a database.
struct SQLLimits: Sendable {
    /// The maximum time to open a connection.
    let connect: Duration
    /// The maximum time of a query.
    let query: Duration

    /// The maximum size of an answer, or of the answers to queries that were sent together, in bytes.
    ///
    /// The list of all users has no maximum.
    /// A query without a condition would otherwise make every login read the whole table into memory.
    static let answerSize = 16 << 20

    /// Returns the fault of a larger answer.
    static func tooLarge(_ context: String) -> ServerFault {
        ServerFault(.failed, "\(context): the answer has more than \(answerSize >> 20) MiB")
    }
}
