// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// TLS for a connection to a server; the first handler of its channel.
public final class OpenSSLClientHandler: OpenSSLHandler {
    /// Makes the handler of one channel.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - serverName: The host name or IP address that the server's certificate must carry.
    ///   - configuration: Deadlines and tolerance.
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a server's, `invalidName`,
    ///   `libraryFailure`.
    public init(
        context: TLSContext,
        serverName: String,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        let connection = try TLSConnection.client(context: context, serverName: serverName)
        super.init(configuration: configuration, connection: connection)
    }
}
