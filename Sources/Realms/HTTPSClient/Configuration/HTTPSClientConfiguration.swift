// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The configuration of an ``HTTPSClient``.
public struct HTTPSClientConfiguration: Sendable {
    /// The servers that are trusted.
    public var trust: HTTPSTrust
    /// The certificate and key that are presented to a server that requests a certificate; nil for none.
    public var identity: TLSIdentity?
    /// The lowest version of TLS that is accepted; the default is 1.2.
    public var minimumVersion = TLSVersion.tls12
    /// The value of the field `User-Agent`; the default is `Gatehouse`.
    ///
    /// A request with a `User-Agent` of its own keeps it.
    public var userAgent = "Gatehouse"
    /// The time limit for resolving the name, connecting and the TLS handshake; the default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// The time limit for a request, from the call to the end of the response; the default is 30 seconds.
    public var timeout = Duration.seconds(30)
    /// The maximum length of a response's status line and fields, in bytes; the default is 64 KiB.
    public var maximumHead = 64 << 10
    /// The maximum length of a response's body, in bytes; the default is 1 MiB.
    ///
    /// If the body is longer, the connection is closed at the limit.
    public var maximumBody = 1 << 20
    /// The maximum number of connections to one server; the default is 16.
    public var connections = 16
    /// The maximum number of requests that wait for a connection to one server; the default is 1024.
    public var waitingRequests = 1024
    /// The time for which an unused connection is kept; the default is 30 seconds.
    ///
    /// If a server announces a shorter time (`Keep-Alive: timeout=5`), the connection is used for one second less than
    /// that.
    public var idleTime = Duration.seconds(30)

    /// Creates a configuration with the defaults.
    ///
    /// - Parameter trust: The servers that are trusted.
    public init(trust: HTTPSTrust) {
        self.trust = trust
    }
}
