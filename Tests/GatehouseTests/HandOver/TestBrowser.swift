// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import AccessControl

/// A browser that opens pages of several hosts of a ``TestServer``, with the cookies of each host.
final class TestBrowser: Sendable {
    /// The result of opening a page.
    struct Page {
        /// The URL of the page after all redirects.
        let url: String
        let response: ParsedResponse
        /// The URLs that were requested, in order.
        let visited: [String]

        var redirects: Int { visited.count - 1 }
        var status: Int { response.status }
        var body: String { response.body }
    }

    private let server: TestServer
    private let peer: String
    private let clients = Mutex<[String: TestClient]>([:])

    init(_ server: TestServer, from peer: String = "127.0.0.1") {
        self.server = server
        self.peer = peer
    }

    static let verifier = "__Host-gatehouse-verifier"

    /// Returns the client for a host, such as `app.example:8443`.
    func at(_ host: String) -> TestClient {
        clients.withLock { clients in
            if let client = clients[host] { return client }
            let client = TestClient(server, from: peer, at: host)
            clients[host] = client
            return client
        }
    }

    /// Opens a URL and follows redirects, at most 10, until a redirect to a URL for which `stop` is true.
    func open(_ url: String, stoppingBefore stop: (String) -> Bool = { _ in false }) async throws -> Page {
        var visited = [url]
        var (host, target) = try Self.split(url)
        while true {
            let response = try await at(host).get(target)
            guard (300..<400).contains(response.status), let location = response.location else {
                return Page(url: "https://\(host)\(target)", response: response, visited: visited)
            }
            let next = location.hasPrefix("/") ? "https://\(host)\(location)" : location
            if stop(next) { return Page(url: next, response: response, visited: visited) }
            visited.append(next)
            try #require(visited.count <= 10, "too many redirects: \(visited)")
            (host, target) = try Self.split(next)
        }
    }

    /// Submits the sign-in form of a page, and follows the redirects.
    func signIn(
        _ name: String,
        _ password: String = "x",
        on page: Page,
        stoppingBefore stop: (String) -> Bool = { _ in false }
    ) async throws -> Page {
        let (host, _) = try Self.split(page.url)
        let ticket = try #require(page.response.input("ticket"))
        let form = [("ticket", ticket), ("username", name), ("password", password)]
        let response = try await at(host).post("/gatehouse/sign-in", form)
        let location = try #require(response.location, "\(response.status) \(response.body)")
        let next = location.hasPrefix("/") ? "https://\(host)\(location)" : location
        if stop(next) { return Page(url: next, response: response, visited: [page.url]) }
        return try await open(next, stoppingBefore: stop)
    }

    /// Returns the host and the target of an https URL.
    static func split(_ url: String) throws -> (host: String, target: String) {
        let url = try #require(RequestURL(url), "\(url) is not a URL")
        return (url.authority, url.target.isEmpty ? "/" : url.target)
    }
}
