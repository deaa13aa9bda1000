// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The TLS handler of a connection to a server.
///
/// It must be the first handler of the channel.
public final class OpenSSLClientHandler: OpenSSLHandler {
    /// Makes the handler of one channel.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - serverName: The host name or IP address that the server's certificate must contain.
    ///   - configuration: The time limits, and whether an end without close_notify is accepted.
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a server's, with code `invalidName`
    ///   for an invalid server name, or with code `libraryFailure`.
    public init(
        context: TLSContext,
        serverName: String,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        let connection = try TLSConnection.client(context: context, serverName: serverName)
        super.init(configuration: configuration, connection: connection)
    }
}
