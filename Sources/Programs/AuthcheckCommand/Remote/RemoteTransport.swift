// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit
public import RealmKit

/// The HTTPS client with which `authcheck --server` asks a server.
///
/// It is passed to ``Authcheck/main(_:state:remote:)``, so that a program without it does not link an HTTPS client.
public struct RemoteTransport: Sendable {
    /// The server that is trusted.
    public enum Trust: Sendable {
        /// A server whose certificate is trusted by the system.
        case system
        /// A server whose certificate is issued by one of these authorities, in PEM.
        case authorities(pem: [UInt8], file: String)
        /// A server whose public key has this SHA-256 digest. Its name and its dates are not checked.
        case key(Digest)
    }

    /// A request: GET without a body, POST with a JSON body.
    public struct Request: Sendable {
        /// The URL.
        public let url: String
        /// The server that is trusted.
        public let trust: Trust
        /// The token for the field `Authorization`; nil for none.
        public let token: Secret?
        /// The JSON body; nil for a GET request.
        public let body: Secret?
    }

    /// A response with its whole body.
    public struct Response: Sendable {
        /// The status code.
        public let status: Int
        /// The value of the field `Content-Type`; nil if there is none.
        public let contentType: String?
        /// The body.
        public let body: [UInt8]

        /// Creates a response.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - contentType: The value of the field `Content-Type`; nil if there is none.
        ///   - body: The body.
        public init(status: Int, contentType: String?, body: [UInt8]) {
            self.status = status
            self.contentType = contentType
            self.body = body
        }
    }

    /// The reason why there is no response.
    public struct Fault: Error, Sendable {
        /// True if the certificate of the server is not trusted.
        public let isUntrusted: Bool
        /// The cause, without secrets.
        public let cause: String

        /// Creates a fault.
        ///
        /// - Parameters:
        ///   - isUntrusted: True if the certificate of the server is not trusted.
        ///   - cause: The cause, without secrets.
        public init(isUntrusted: Bool = false, _ cause: String) {
            self.isUntrusted = isUntrusted
            self.cause = cause
        }
    }

    let send: @Sendable (Request) async throws(Fault) -> Response
    let presentedKey: @Sendable (_ url: String) async throws(Fault) -> Digest

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - send: Sends a request and returns the response with any status. It follows no redirect.
    ///   - presentedKey: Returns the SHA-256 digest of the public key that the server at a URL presents, without trusting
    ///     it and without sending a request.
    public init(
        send: @escaping @Sendable (Request) async throws(Fault) -> Response,
        presentedKey: @escaping @Sendable (_ url: String) async throws(Fault) -> Digest
    ) {
        self.send = send
        self.presentedKey = presentedKey
    }
}
