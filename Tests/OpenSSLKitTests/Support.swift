// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import OpenSSLKit
import Testing

/// Runs commands of the system on files that the library has made.
enum Tool {
    static let openssl = "/usr/bin/openssl"

    static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs a command to its end, and returns its status and its output.
    static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Runs `body` with a temporary folder, and removes it afterwards.
    static func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}

/// The current time, at which certificates that other programs check are valid.
var secondsNow: Int64 { Int64(Date().timeIntervalSince1970) }

func localIdentity() throws -> TLSIdentity {
    let made = try SelfSignedCertificate.make(
        dnsNames: ["localhost"],
        ipAddresses: ["127.0.0.1", "::1"],
        validFor: 30,
        now: secondsNow
    )
    return try TLSIdentity(certificateChain: [made.certificate], privateKey: made.key)
}

extension PrivateKey {
    func pemText() throws -> String {
        try withPEM { bytes throws(OpenSSLError) in
            String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
        }
    }
}

/// One side of a connection, with the bytes on their way to it.
final class End {
    let tls: TLSConnection
    var received: [UInt8] = []
    private var written: [UInt8] = []

    init(_ tls: TLSConnection) { self.tls = tls }

    /// Removes and returns everything to be sent.
    func sent() -> [UInt8] {
        defer { written = [] }
        return written + tls.takeUnsent()
    }

    /// Carries everything to be sent to the other side.
    func deliver(to other: End) { other.received += sent() }

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

    /// Reads the available bytes, up to a size.
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

/// A server and a client with nothing between them.
struct Pair {
    let server: End
    let client: End

    init(server: TLSConfiguration, client: TLSConfiguration, name: String = "localhost") throws {
        try self.init(server: TLSContext(server), client: TLSContext(client), name: name)
    }

    init(server: TLSContext, client: TLSContext, name: String = "localhost") throws {
        self.server = try End(.server(context: server))
        self.client = try End(.client(context: client, serverName: name))
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
