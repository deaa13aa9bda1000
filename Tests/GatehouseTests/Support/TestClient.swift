// SPDX-License-Identifier: Apache-2.0

import Bytes
import Synchronization
import Testing

@testable import AccessControl
@testable import SignIn

/// A parsed response.
struct ParsedResponse {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: String

    init(_ text: String) throws {
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        let lines = text[..<end.lowerBound].components("\r\n")
        status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (parts[0].lowercased(), parts[1].drop { $0 == " " }.description)
        }
        body = String(text[end.upperBound...])
    }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    var location: String? { self["location"] }

    /// The value of an input of a form.
    func input(_ name: String) -> String? {
        guard let start = body.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
        return String(body[start.upperBound...].prefix { $0 != "\"" })
    }

    /// A value of a flat JSON object.
    func json(_ name: String) -> String? {
        guard let start = body.firstRange(of: "\"\(name)\":") else { return nil }
        let rest = body[start.upperBound...]
        if rest.first == "\"" { return String(rest.dropFirst().prefix { $0 != "\"" }) }
        return String(rest.prefix { $0 != "," && $0 != "}" })
    }
}

extension StringProtocol {
    fileprivate func components(_ separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = Substring(self)
        while let place = rest.firstRange(of: separator) {
            parts.append(rest[..<place.lowerBound])
            rest = rest[place.upperBound...]
        }
        return parts + [rest]
    }
}

/// A browser that sends requests to a ``TestServer`` and keeps its cookies.
final class TestClient: Sendable {
    let server: TestServer
    let peer: String
    /// The host of the requests.
    let host: String
    private let jar = Mutex<[String: String]>([:])

    init(_ server: TestServer, from peer: String = "127.0.0.1", at host: String = "house.example") {
        self.server = server
        self.peer = peer
        self.host = host
    }

    static let session = "__Host-gatehouse"
    static let signIn = "__Host-gatehouse-sign-in"

    /// The value of a cookie.
    ///
    /// A test may set it to the value of a stolen cookie.
    subscript(cookie: String) -> String? {
        get { jar.withLock { $0[cookie] } }
        set { jar.withLock { $0[cookie] = newValue } }
    }

    /// Sends a request.
    ///
    /// The default fields are those of a navigation in a browser.
    func send(
        _ method: String,
        _ target: String,
        _ fields: [String] = ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: same-origin", "Accept: text/html"],
        body: String? = nil
    ) async throws -> ParsedResponse {
        let cookies = jar.withLock { $0.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "; ") }
        var request = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n"
        for field in fields { request += "\(field)\r\n" }
        if !cookies.isEmpty { request += "Cookie: \(cookies)\r\n" }
        if let body { request += "Content-Length: \(body.utf8.count)\r\n" }
        let answer = try ParsedResponse(try await server.bytes(request + "\r\n" + (body ?? ""), from: peer))
        // The partitioned cookies of a browser are others, even if the names are the same.
        for cookie in answer.all("set-cookie") where !cookie.contains("; Partitioned") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", omittingEmptySubsequences: false)
            let (name, value) = (String(pair[0]), String(pair[1]))
            jar.withLock { $0[name] = cookie.contains("Max-Age=0") ? nil : value }
        }
        return answer
    }

    func get(_ target: String) async throws -> ParsedResponse { try await send("GET", target) }

    /// Follows a redirect.
    func follow(_ answer: ParsedResponse) async throws -> ParsedResponse {
        try await get(try #require(answer.location))
    }

    /// Sends a request as a script of a page does.
    func fetch(_ method: String, _ target: String, json: String? = nil) async throws -> ParsedResponse {
        let type = json == nil ? [] : ["Content-Type: application/json"]
        return try await send(
            method,
            target,
            ["Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin"] + type,
            body: json
        )
    }

    /// Sends a form.
    func post(_ target: String, _ form: [(String, String)], _ fields: [String] = []) async throws -> ParsedResponse {
        let body = form.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        let usual = fields.isEmpty ? ["Sec-Fetch-Site: same-origin", "Accept: text/html"] : fields
        return try await send(
            "POST",
            target,
            usual + ["Content-Type: application/x-www-form-urlencoded"],
            body: body
        )
    }

    /// Requests the sign-in page and submits its form.
    ///
    /// - Returns: The answer to the form.
    func signIn(
        _ name: String,
        _ password: String = "x",
        at page: String = "/sign-in",
        _ fields: [String] = []
    ) async throws -> ParsedResponse {
        let ticket = try #require(try await get(page).input("ticket"))
        let target = page.prefix { $0 != "?" }
        return try await post(
            String(target),
            [("ticket", ticket), ("username", name), ("password", password)],
            fields
        )
    }
}

extension TestClient {
    /// Sends a check of a request as a proxy does, from the address of this client.
    ///
    /// With `pageOf`, it is the check by which nginx requests the page for a check that was refused.
    func check(
        _ proxy: String,
        at host: String,
        _ target: String,
        method: String = "GET",
        _ fields: [String] = [],
        pageOf isPage: Bool = false
    ) async throws -> ParsedResponse {
        let fields = fields + ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"]
        switch proxy {
        case "nginx":
            let original = ["X-Original-URL: https://\(host)\(target)", "X-Original-Method: \(method)"]
            return try await send("GET", isPage ? "/auth/nginx/page" : "/auth/nginx", fields + original)
        case "envoy":
            let text = (["Host: \(host)"] + fields).joined(separator: "\r\n")
            let request = "\(method) /auth/envoy\(target) HTTP/1.1\r\n\(text)\r\n\r\n"
            return try ParsedResponse(try await server.bytes(request, from: peer))
        default:
            let original = [
                "X-Forwarded-Method: \(method)", "X-Forwarded-Host: \(host)", "X-Forwarded-Uri: \(target)",
            ]
            return try await send("GET", "/auth/\(proxy)", fields + original)
        }
    }
}
