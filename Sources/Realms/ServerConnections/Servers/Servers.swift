// SPDX-License-Identifier: Apache-2.0

/// The servers of a pool, and how a connection to one of them is opened.
package struct Servers<Connection: ServerConnection>: Sendable {
    /// The names of the servers for messages, in the order of the configuration; at least one.
    package let names: [String]
    /// Opens a connection to the server with this number, and prepares it for calls.
    ///
    /// It runs on a thread that may block. It must keep the deadline of the call.
    package let connect: @Sendable (Int, ServerCall) throws(ServerFault) -> Connection

    /// Describes servers.
    ///
    /// - Parameters:
    ///   - names: The names for messages; at least one.
    ///   - connect: Opens a connection to the server with this number.
    package init(
        _ names: [String],
        connect: @escaping @Sendable (Int, ServerCall) throws(ServerFault) -> Connection
    ) {
        self.names = names
        self.connect = connect
    }
}
