// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import OpenSSLKit

/// Runs the system's own commands on what the library has made.
enum Tool {
    static let openssl = "/usr/bin/openssl"

    static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs a command to its end and gives its status and everything it has written.
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

    /// Gives a folder of its own to `body` and removes it afterwards.
    static func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}

/// The present, which certificates that other programs check must be valid at.
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

/// A transport of two arrays.
final class ArrayTransport: TLSTransport {
    var received: [UInt8] = []
    var sent: [UInt8] = []

    func receive(upTo limit: Int, _ take: (RawSpan) -> Void) {
        let part = Array(received.prefix(limit))
        guard !part.isEmpty else { return }
        received.removeFirst(part.count)
        unsafe take(part.span.bytes)
    }

    func send(_ ciphertext: RawSpan) {
        for offset in 0..<ciphertext.byteCount {
            sent.append(unsafe ciphertext.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
        }
    }

    /// Carries everything sent here to the other side.
    func deliver(to other: ArrayTransport) {
        other.received += sent
        sent = []
    }
}
