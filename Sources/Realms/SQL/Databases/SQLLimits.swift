// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The time limits of a database.
struct SQLLimits: Sendable {
    /// The maximum time to open a connection.
    let connect: Duration
    /// The maximum time of a query.
    let query: Duration
}
