// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import NIOCore
import SeededRandom
import Testing

@testable import HTTPServer

@Suite struct ChunkedDecoderTests {
    /// Decodes a body that arrives in pieces.
    ///
    /// It returns the data and status 200 or 0 (incomplete), or the status with which the body is rejected. `rest` is the
    /// number of bytes after the body.
    private func decoded(_ pieces: [[UInt8]], limit: Int = 64) -> (data: String, status: Int, rest: Int) {
        var limits = HTTPLimits()
        limits.body = limit
        guard var reader = BodyReader(.chunked, at: 0) else { return ("", 0, 0) }
        var input = ByteBuffer()
        var output = ByteBuffer()
        do throws(RequestFault) {
            for piece in pieces {
                input.writeBytes(piece)
                if !reader.isDone { try reader.read(&input, into: &output, limits: limits) }
            }
        } catch {
            return ("", error.status, 0)
        }
        return (String(buffer: output), reader.isDone ? 200 : 0, input.readableBytes)
    }

    private static let x64 = String(repeating: "x", count: 64)

    static let cases: [(body: String, status: Int, data: String)] = [
        ("0\r\n\r\n", 200, ""), ("5\r\nhello\r\n0\r\n\r\n", 200, "hello"),
        ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, "hello"),
        ("A\r\n0123456789\r\n0\r\n\r\n", 200, "0123456789"), ("a\r\n0123456789\r\n000\r\n\r\n", 200, "0123456789"),
        ("00000005\r\nhello\r\n00000000\r\n\r\n", 200, "hello"), ("5\r\nhe\r\nl\r\n0\r\n\r\n", 200, "he\r\nl"),
        ("5;a=b\r\nhello\r\n0;c\r\n\r\n", 200, "hello"), ("5;a=\"\u{E9};\"\r\nhello\r\n0\r\n\r\n", 200, "hello"),
        ("0\r\nX: y\r\nContent-Length: 5\r\n\r\n", 200, ""), ("40\r\n\(x64)\r\n0\r\n\r\n", 200, x64),
        ("5\r\nhello\r\n0\r\nX:\t\u{E9}\r\n\r\n", 200, "hello"),
        // Incomplete.
        ("", 0, ""), ("5", 0, ""), ("5\r\nhell", 0, "hell"), ("5\r\nhello\r\n0\r\n", 0, "hello"),
        ("0\r\nX: y\r\n", 0, ""),
        // Longer than the limit.
        ("41\r\n\(x64)x\r\n0\r\n\r\n", 413, ""), ("40\r\n\(x64)\r\n1\r\nx\r\n0\r\n\r\n", 413, ""),
        ("FFFFFFFF\r\nx", 413, ""), ("7FFFFFFF\r\nx", 413, ""),
        // Malformed sizes.
        ("0x5\r\nhello\r\n0\r\n\r\n", 400, ""), ("+5\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("-5\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("1_0\r\nhello\r\n0\r\n\r\n", 400, ""), ("5 \r\nhello\r\n0\r\n\r\n", 400, ""),
        (" 5\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("5\t\r\nhello\r\n0\r\n\r\n", 400, ""), ("\r\nhello\r\n0\r\n\r\n", 400, ""),
        (";a\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("g\r\nhello\r\n0\r\n\r\n", 400, ""), ("5.\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("5,\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("000000005\r\nhello\r\n0\r\n\r\n", 400, ""), ("100000000\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n", 400, ""), ("10000000000000005\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("\u{665}\r\nhello\r\n0\r\n\r\n", 400, ""), ("5\u{0}\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("\"5\"\r\nhello", 400, ""),
        // Line ends.
        ("5\nhello\r\n0\r\n\r\n", 400, ""), ("5\rhello\r\n0\r\n\r\n", 400, ""), ("5\r\rhello\r\n0\r\n\r\n", 400, ""),
        ("5\r\nhello0\r\n\r\n", 400, ""), ("5\r\nhello\n0\r\n\r\n", 400, ""), ("5\r\nhello\r0\r\n\r\n", 400, ""),
        ("5\r\nhelloo\r\n0\r\n\r\n", 400, ""), ("5\r\nhello\r\n\r\n0\r\n\r\n", 400, ""),
        ("4\r\nhello\r\n0\r\n\r\n", 400, ""), ("0\n\n", 400, ""), ("0\r\n\n", 400, ""), ("0\r\n\rx", 400, ""),
        ("0\r\r\n\r\n", 400, ""),
        // Extensions.
        ("5;a\rb\r\nhello\r\n0\r\n\r\n", 400, ""), ("5;a\nb\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("5;\n\r\nhello\r\n0\r\n\r\n", 400, ""), ("5;\u{0}\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("5;\u{7F}\r\nhello\r\n0\r\n\r\n", 400, ""), ("5;a\r\r\nhello\r\n0\r\n\r\n", 400, ""),
        ("0;\n\r\n\r\n", 400, ""),
        // Trailers.
        ("0\r\nX: \u{0}\r\n\r\n", 400, ""), ("0\r\nX: y\n\r\n", 400, ""), ("0\r\nX: y\r\n z\r\n\r\n", 400, ""),
        ("0\r\nX: a\rb\r\n\r\n", 400, ""), ("0\r\nX\r\n\r\n", 400, ""), ("0\r\n: y\r\n\r\n", 400, ""),
        ("0\r\nX : y\r\n\r\n", 400, ""), ("0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""),
        ("0\r\n\u{E9}: y\r\n\r\n", 400, ""),
        ("0\r\nX: \u{7F}\r\n\r\n", 400, ""), ("0\r\n X: y\r\n\r\n", 400, ""),
    ]

    @Test(arguments: cases.indices)
    func `a valid chunked body is decoded, and a malformed chunked body is rejected`(index: Int) {
        let (body, status, data) = Self.cases[index]
        let found = decoded([Array(body.utf8)])
        #expect(found.status == status, "\(body.debugDescription)")
        #expect(found.data == data, "\(body.debugDescription)")
    }

    @Test func `the decoded body does not depend on how the bytes are split`() {
        var numbers = Random(seed: 2)
        for (body, _, _) in Self.cases {
            let bytes = Array((body + "GET").utf8)
            let whole = decoded([bytes])
            for size in [1, 2, 3, 9, 40] {
                let cut = decoded(numbers.pieces(bytes, atMost: size))
                #expect(cut == whole, "\(body.debugDescription)")
            }
        }
    }

    @Test func `bytes after the body are not read`() {
        #expect(decoded([Array("1\r\nx\r\n0\r\n\r\nGET /".utf8)]) == ("x", 200, 5))
        #expect(decoded([Array("0\r\nX: y\r\n\r\nGET /".utf8)]) == ("", 200, 5))
    }

    @Test(arguments: ["5;", "5;a=", "0\r\nX: ", "0\r\n"])
    func `chunk extensions and trailers longer than 16 KiB are refused`(start: String) {
        let unit = start == "0\r\n" ? "X:y\r\n" : "a"
        let endless = start + String(repeating: unit, count: 16_384 / unit.utf8.count + 1)
        #expect(decoded([Array(endless.utf8)]).status == 400)
        #expect(decoded(Array(endless.utf8).map { [$0] }).status == 400)
        let long = start + String(repeating: unit, count: 1000)
        #expect(decoded([Array(long.utf8)]).status == 0)
    }

    @Test func `the length of chunk extensions is limited over all chunks together`() {
        let chunk = "1;" + String(repeating: "a", count: 1000) + "\r\nx\r\n"
        #expect(decoded([Array(String(repeating: chunk, count: 16).utf8)]).status == 0)
        #expect(decoded([Array(String(repeating: chunk, count: 17).utf8)]).status == 400)
    }

    @Test func `chunks of one byte are accepted up to the body's limit`() {
        let tiny = String(repeating: "1\r\nx\r\n", count: 65_536)
        #expect(decoded([Array((tiny + "0\r\n\r\n").utf8)], limit: 65_536).status == 200)
        #expect(decoded([Array((tiny + "1\r\nx\r\n").utf8)], limit: 65_536).status == 413)
    }
}
