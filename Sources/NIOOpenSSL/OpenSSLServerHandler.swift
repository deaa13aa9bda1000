// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// TLS for an accepted connection; the first handler of its channel.
public final class OpenSSLServerHandler: OpenSSLHandler {
    /// Makes the handler of one channel.
    ///
    /// - Parameters:
    ///   - context: A server's context, shared by all connections of a listener.
    ///   - configuration: Deadlines and tolerance.
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` if the context is a client's, `libraryFailure`.
    public init(
        context: TLSContext,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        super.init(configuration: configuration, connection: try TLSConnection.server(context: context))
    }
}

/// Makes the TLS handler of an accepted connection.
///
/// - Throws: ``OpenSSLError`` as ``OpenSSLServerHandler/init(context:configuration:)`` does.
public func makeServerHandler(
    context: TLSContext,
    configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
) throws(OpenSSLError) -> OpenSSLServerHandler {
    try OpenSSLServerHandler(context: context, configuration: configuration)
}
