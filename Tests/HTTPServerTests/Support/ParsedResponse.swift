// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A response that a client has parsed.
struct ParsedResponse: Equatable {
    struct NoResponse: Error {
        let rest: String
    }

    var status = 0
    var fields: [String: String] = [:]
    var body = ""

    /// Parses all responses in some bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the client has read.
    ///   - methods: The methods of the requests, in order. Further requests are GET.
    ///   - mayBeIncomplete: True if the last response may be incomplete.
    /// - Returns: The complete responses.
    /// - Throws: ``NoResponse`` if the bytes are not responses.
    static func all(
        in bytes: ByteBuffer,
        methods: [String] = [],
        mayBeIncomplete: Bool = false
    ) throws -> [ParsedResponse] {
        var rest = String(buffer: bytes).utf8[...]
        var responses: [ParsedResponse] = []
        var finals = 0
        while !rest.isEmpty {
            let method = finals < methods.count ? methods[finals] : "GET"
            guard let response = one(&rest, method) else {
                if mayBeIncomplete { return responses }
                throw NoResponse(rest: String(decoding: rest.prefix(200), as: UTF8.self))
            }
            if response.status >= 200 { finals += 1 }
            responses.append(response)
        }
        return responses
    }

    private static func line(_ rest: inout Substring.UTF8View) -> String? {
        guard let end = rest.firstIndex(of: 10), end > rest.startIndex, rest[rest.index(before: end)] == 13 else {
            return nil
        }
        let line = String(decoding: rest[..<rest.index(before: end)], as: UTF8.self)
        rest = rest[rest.index(after: end)...]
        return line
    }

    private static func take(_ count: Int, _ rest: inout Substring.UTF8View) -> String? {
        guard count >= 0, let end = rest.index(rest.startIndex, offsetBy: count, limitedBy: rest.endIndex) else {
            return nil
        }
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func one(_ rest: inout Substring.UTF8View, _ method: String) -> ParsedResponse? {
        var response = ParsedResponse()
        guard let start = line(&rest), start.hasPrefix("HTTP/1.1 "), let status = Int(start.dropFirst(9).prefix(3))
        else { return nil }
        response.status = status
        while true {
            guard let field = line(&rest) else { return nil }
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: ":") else { return nil }
            let name = field[..<colon].lowercased()
            guard response.fields[name] == nil else { return nil }
            response.fields[name] = String(field[colon...].dropFirst(2))
        }
        if status < 200 || status == 204 || status == 304 || method == "HEAD" { return response }
        if response.fields["transfer-encoding"] == "chunked" {
            while true {
                guard let size = line(&rest).flatMap({ Int($0, radix: 16) }), let data = take(size, &rest),
                    line(&rest) == ""
                else { return nil }
                if size == 0 { return response }
                response.body += data
            }
        }
        guard let length = response.fields["content-length"] else {
            response.body = String(decoding: rest, as: UTF8.self)
            rest = rest[rest.endIndex...]
            return response
        }
        guard let count = Int(length), let body = take(count, &rest) else { return nil }
        response.body = body
        return response
    }
}
