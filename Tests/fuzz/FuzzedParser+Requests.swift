// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPLimits
import NIOCore
import NIOHPACK
import OpenSSLKit
import RealmKit
import Sessions

@testable import AccessControl
@testable import HTTPServer
@testable import SignIn

extension FuzzedParser {
    /// The parts of requests.
    static let requests = [
        FuzzedParser("http1-head") { bytes in
            let limits = HTTPLimits()
            var scanner = HeadScanner()
            guard let end = try? scanner.end(of: bytes.span, limits: limits) else { return }
            var inPieces = HeadScanner()
            for count in 0...bytes.count {
                guard let found = try? inPieces.end(of: bytes.span.extracting(0..<count), limits: limits) else {
                    continue
                }
                check(found == end, "the end of a head does not depend on the pieces")
                break
            }
            var fields: [RequestHead.Field] = []
            guard (try? HeadParser(limits: limits).parse(bytes.span.extracting(0..<end), into: &fields)) != nil else {
                return
            }
            for field in fields {
                check(bytes[field.name.range].allSatisfy(ASCII.isToken), "the name of a field is a token")
                check(!bytes[field.value.range].contains { $0 == 0 || $0 == 13 || $0 == 10 }, "a value is one line")
            }
        },
        FuzzedParser("http1-chunks") { bytes in
            let whole = chunks(bytes, pieces: 1 << 20)
            for size in [1, 2, 7] {
                check(chunks(bytes, pieces: size) == whole, "a body does not depend on the pieces")
            }
        },
        FuzzedParser("http2-head") { bytes in
            let block = HPACKHeaders(
                bytes.split(separator: 10, omittingEmptySubsequences: false).map { line in
                    let name = line.dropFirst().prefix { $0 != UInt8(ascii: ":") }
                    let start = line.prefix(1 + name.count)
                    return (text(start), text(line.dropFirst(start.count + 1)))
                }
            )
            let limits = HTTPLimits()
            var fields: [RequestHead.Field] = []
            guard let head = try? HTTP2HeadReader.read(block, endsStream: false, limits: limits, into: &fields) else {
                return
            }
            // The head is one that an HTTP/1 client may send, except for its version.
            let written = Array(head.bytes.readableBytesView)
            guard let line = text(written).firstRange(of: " HTTP/2\r\n") else { fatalError("a head has a start line") }
            let rest = text(written)[line.upperBound...]
            let http1 = Array("\(text(written)[..<line.lowerBound]) HTTP/1.1\r\n\(rest)\r\n".utf8)
            var again: [RequestHead.Field] = []
            let isAccepted = (try? HeadParser(limits: limits).parse(http1.span, into: &again)) != nil
            check(isAccepted, "an HTTP/1 parser accepts \(text(http1).debugDescription)")
        },
        FuzzedParser("form") { bytes in
            guard let form = try? FormFields(bytes.span) else { return }
            for name in ["", "user", "password", "csrf"] { _ = form.textIfValid(UTF8Text(name)) }
        },
        FuzzedParser("cookies") { bytes in
            var cookies = OurCookies()
            cookies.read(bytes.span)
            var tokens: [OpaqueToken] = []
            OurCookies.collectSessions(in: bytes.span, into: &tokens)
            if case .token(let token) = cookies.session {
                check(tokens.map(\.text).contains(token.text), "a session is found twice")
            }
        },
        FuzzedParser("basic") { bytes in
            guard case .credentials(let credentials) = BasicScheme.read(bytes.span, count: 1) else { return }
            _ = credentials.separated()
        },
        FuzzedParser("path") { bytes in
            guard let readings = try? PathReadings(reading: bytes.span) else { return }
            for path in [readings.path] + readings.others {
                let segments = path.segments.map { Array($0.string.utf8) }
                check(!segments.contains { $0 == [46] || $0 == [46, 46] }, "no reading has dot segments")
                check(!segments.joined().contains { $0 < 0x20 || $0 == 92 }, "no reading has control characters")
            }
            if readings.others.isEmpty, readings.ambiguity == nil {
                check(RequestPath(target: bytes.span) == readings.path, "a path with one reading is not ambiguous")
            }
        },
        FuzzedParser("url") { bytes in
            _ = RequestURL(text(bytes))
            if let host = RequestHost(text(bytes)) {
                check(RequestHost(host.text) == host, "a host is read back")
            }
        },
        FuzzedParser("address") { bytes in
            let word = text(bytes)
            guard let block = try? CIDRBlock(word) else { return }
            check((try? CIDRBlock(block.description)) == block, "a block of addresses is read back")
        },
    ]

    /// Decodes a body in pieces: the data, and the rest or the status of the fault.
    private static func chunks(_ bytes: [UInt8], pieces size: Int) -> [Int] {
        var limits = HTTPLimits()
        limits.body = 256
        guard var reader = BodyReader(.chunked, at: 0) else { return [] }
        var (input, output) = (ByteBuffer(), ByteBuffer())
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + size)
            input.writeBytes(bytes[start..<end])
            start = end
            guard !reader.isDone else { continue }
            do throws(RequestFault) { try reader.read(&input, into: &output, limits: limits) } catch {
                return [-error.status]
            }
        }
        return [reader.isDone ? 1 : 0, input.readableBytes] + output.readableBytesView.map(Int.init)
    }
}
