// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import SeededRandom
import Synchronization
import Testing

@testable import HTTPServer

/// Connections that receive randomly damaged requests.
@Suite struct DamagedRequestTests {
    /// The number of connections; `GATEHOUSE_FUZZ_ROUNDS` changes it.
    private static let rounds =
        ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2_000
    /// The seed of the random numbers; `GATEHOUSE_FUZZ_SEED` changes it.
    private static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1

    /// Records the requests and faults that it gets.
    private final class RecordingResponder: Responder {
        private struct State {
            var methods: [String] = []
            var faults = 0
            var afterFault = 0
        }

        private let state = Mutex(State())

        var methods: [String] { state.withLock { $0.methods } }
        var faults: Int { state.withLock { $0.faults } }
        var afterFault: Int { state.withLock { $0.afterFault } }

        func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
            let method = head.methodText
            state.withLock { state in
                state.methods.append(method)
                if state.faults > 0 { state.afterFault += 1 }
            }
            return .immediate(.text(head.target))
        }

        func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
            state.withLock { $0.faults += 1 }
            return PreparedResponse(
                HTTPResponse(status: HTTPResponse.Status(code: fault.status)),
                body: ByteBuffer(string: fault.reason)
            )
        }
    }

    private static let seeds: [[UInt8]] = {
        let heads = RequestHeadCases.all.filter { $0.request.utf8.count < 300 }.map(\.request)
        let chunked = ChunkedDecoderTests.cases.map {
            "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + $0.body
        }
        let others = [
            "HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n", "POST /l HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            "GET /k HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "GET /z HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        ]
        return (heads + chunked + others).map { Array($0.utf8) }
    }()

    private static let pieces: [[UInt8]] = [
        "\r\n", "\r", "\n", "\r\n\r\n", ":", " ", "\t", "\u{0}", "chunked", "Content-Length: 5\r\n", ",", ";", "0",
        "FFFFFFFF",
        "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "HTTP/1.0", "HEAD", "Connection: close\r\n",
        "Expect: 100-continue\r\n",
    ].map { Array($0.utf8) }

    private func damaged(_ numbers: inout Random) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &numbers) { bytes += Self.seeds.randomElement(using: &numbers) ?? [] }
        for _ in 0..<Int.random(in: 0...4, using: &numbers) {
            let place = Int.random(in: 0...bytes.count, using: &numbers)
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0 where place < bytes.count: bytes[place] = UInt8.random(in: .min ... .max, using: &numbers)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: Self.pieces.randomElement(using: &numbers) ?? [], at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...30, using: &numbers)))
            default: bytes.insert(contentsOf: bytes.prefix(place).suffix(20), at: place)
            }
        }
        return bytes
    }

    /// Sends bytes to a connection, checks the rules that hold for all input, and returns the responses.
    private func check(
        _ pieces: [[UInt8]],
        _ numbers: inout Random,
        isSlow: Bool
    ) throws -> (ByteBuffer, Bool) {
        let responder = RecordingResponder()
        let connection = try EmbeddedConnection(.small, responder)
        defer { connection.end() }
        for piece in pieces {
            if isSlow {
                connection.network.isClientReading = Bool.random(using: &numbers)
                if connection.network.isClientReading { connection.network.clientReads() }
                if Int.random(in: 0..<50, using: &numbers) == 0 { connection.advance(.seconds(9)) }
            }
            connection.receive(piece)
        }
        connection.network.isClientReading = true
        connection.network.clientReads()
        let wasOpen = connection.isOpen
        connection.base.endInput()
        connection.eventLoop.run()
        connection.network.clientReads()
        let responses = try ParsedResponse.all(in: connection.network.readByClient, methods: responder.methods)
        #expect(responses.count { $0.status >= 200 } <= responder.methods.count + responder.faults)
        #expect(responder.faults <= 1)
        #expect(responder.afterFault == 0, "a request after a malformed request was answered")
        #expect(responder.faults == 0 || (responses.last?.status ?? 0) >= 400)
        #expect(responses.dropLast().allSatisfy { $0.status == 200 })
        connection.advance(.seconds(30))
        #expect(connection.base.endCount == 1)
        return (connection.network.readByClient, wasOpen)
    }

    @Test func `no request gets two responses, and requests after a malformed request get no response`() throws {
        var numbers = Random(seed: Self.seed)
        for _ in 0..<Self.rounds {
            let bytes = damaged(&numbers)
            _ = try check(numbers.pieces(bytes, atMost: 200), &numbers, isSlow: true)
        }
    }

    @Test func `responses do not depend on how the bytes are split`() throws {
        var numbers = Random(seed: ~Self.seed)
        for _ in 0..<(Self.rounds / 5) {
            let bytes = damaged(&numbers)
            let whole = try check([bytes], &numbers, isSlow: false)
            let cut = try check(numbers.pieces(bytes, atMost: 9), &numbers, isSlow: false)
            #expect(whole.0 == cut.0 && whole.1 == cut.1, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
        }
    }
}
