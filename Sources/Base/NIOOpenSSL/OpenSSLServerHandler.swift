// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The TLS handler of an accepted connection.
///
/// It must be the first handler of the channel.
public final class OpenSSLServerHandler: OpenSSLHandler {
    /// Makes the handler of one channel.
    ///
    /// - Parameters:
    ///   - context: A server's context. All connections of a listener share it.
    ///   - configuration: The time limits, and whether an end without close_notify is accepted.
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a client's, or with code
    ///   `libraryFailure`.
    public init(
        context: TLSContext,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        super.init(configuration: configuration, connection: try TLSConnection.server(context: context))
    }
}

/// Makes the TLS handler of an accepted connection.
///
/// - Throws: The errors of ``OpenSSLServerHandler/init(context:configuration:)``.
public func makeServerHandler(
    context: TLSContext,
    configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
) throws(OpenSSLError) -> OpenSSLServerHandler {
    try OpenSSLServerHandler(context: context, configuration: configuration)
}
