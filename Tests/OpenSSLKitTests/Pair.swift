// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import Testing

/// The client or the server of a connection, with the bytes that were sent to it.
final class Endpoint {
    let tls: TLSConnection
    var received: [UInt8] = []
    private var written: [UInt8] = []

    init(_ tls: TLSConnection) { self.tls = tls }

    /// Removes and returns all bytes that are to be sent.
    func sent() -> [UInt8] {
        defer { written = [] }
        return written + tls.takeUnsent()
    }

    /// Delivers all bytes that are to be sent to the other side.
    func deliver(to other: Endpoint) { other.received += sent() }

    func handshake() throws(OpenSSLError) -> TLSConnection.HandshakeStep {
        let bytes = received
        let (step, taken) = try tls.handshake(unsafe bytes.span.bytes)
        received.removeFirst(taken)
        return step
    }

    func write(_ bytes: [UInt8], space: Int = 40_000) throws -> TLSConnection.WriteStep {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: space, alignment: 1)
        defer { unsafe storage.deallocate() }
        var output = unsafe OutputRawSpan(buffer: storage, initializedCount: 0)
        let step = try tls.write(unsafe bytes.span.bytes, into: &output)
        let filled = output.byteCount
        unsafe written += storage.prefix(filled)
        return step
    }

    /// Reads at most `count` bytes of the available plaintext.
    func read(_ count: Int = 20_000) throws -> (step: TLSConnection.ReadStep, bytes: [UInt8]) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { unsafe storage.deallocate() }
        var output = unsafe OutputRawSpan(buffer: storage, initializedCount: 0)
        let bytes = received
        let (step, taken) = try tls.read(unsafe bytes.span.bytes, into: &output)
        received.removeFirst(taken)
        let filled = output.byteCount
        return unsafe (step, Array(storage.prefix(filled)))
    }
}

/// A server and a client that exchange bytes directly.
struct Pair {
    let server: Endpoint
    let client: Endpoint

    init(server: TLSConfiguration, client: TLSConfiguration, name: String = "localhost") throws {
        try self.init(server: TLSContext(server), client: TLSContext(client), name: name)
    }

    init(server: TLSContext, client: TLSContext, name: String = "localhost") throws {
        self.server = try Endpoint(.server(context: server))
        self.client = try Endpoint(.client(context: client, serverName: name))
    }

    func shakeHands() throws {
        for _ in 0..<10 {
            let clientStep = try client.handshake()
            client.deliver(to: server)
            let serverStep = try server.handshake()
            server.deliver(to: client)
            if clientStep == .complete && serverStep == .complete { return }
        }
        Issue.record("the handshake does not end")
    }
}
