// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TLSTesting
import Testing

@testable import OpenSSLKit

/// A clock that changes only when the test advances it.
final class TestClock: Sendable {
    private let seconds = Mutex(Int64(1_000_000))

    var now: Int64 { seconds.withLock { $0 } }

    func advance(by count: Int64) { seconds.withLock { $0 += count } }
}

/// A client that keeps its session and resumes the session in the next connection.
final class ReturningClient {
    private let context: TLSContext
    private let name: String
    private(set) var session: TLSSession?

    init(_ configuration: TLSConfiguration, _ version: TLSVersion, name: String = "localhost") throws {
        var configuration = configuration
        configuration.maximumVersion = version
        context = try TLSContext(configuration)
        self.name = name
    }

    /// Connects, receives a byte, and keeps the new session.
    ///
    /// Returns the client and the server.
    @discardableResult
    func connect(to server: TLSContext, name: String? = nil, keeping: Bool = true) throws -> Pair {
        let pair = try Pair(server: server, client: context, name: name ?? self.name)
        if let session { try pair.client.tls.resume(session) }
        try pair.shakeHands()
        // In TLS 1.3 the server checks the client's certificate after the client's handshake is complete.
        _ = try pair.server.write([1])
        pair.server.deliver(to: pair.client)
        #expect(try pair.client.read().bytes == [1])
        if keeping { session = pair.client.tls.session() }
        return pair
    }

    /// Connects, and returns whether the client and the server have resumed the session.
    func isResumed(by server: TLSContext, name: String? = nil) throws -> Bool {
        let pair = try connect(to: server, name: name, keeping: false)
        #expect(pair.server.tls.info.isResumed == pair.client.tls.info.isResumed)
        return pair.server.tls.info.isResumed
    }
}
