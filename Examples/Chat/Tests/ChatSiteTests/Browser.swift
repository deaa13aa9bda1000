// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Logging
import NIOCore
import NIOEmbedded

/// Sends requests to a router without a server.
struct Browser {
    typealias Context = BasicRealmRequestContext

    /// The response to a request.
    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String
    }

    private let responder: RouterResponder<Context>
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameters:
    ///   - configuration: The example's realms.conf.
    ///   - makeRouter: Makes the routes.
    /// - Throws: An error if the configuration or the routes cannot be used.
    init(_ configuration: URL, _ makeRouter: (Realms) throws -> Router<Context>) async throws {
        let realms = try await Realms(try Self.copy(of: configuration).path, kinds: builtInRealms, logger: logger)
        responder = try makeRouter(realms).buildResponder()
    }

    /// A copy of a realms.conf, so that no state folder is created beside the original.
    static func copy(of configuration: URL) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appending(path: "realms.conf")
        try FileManager.default.copyItem(at: configuration, to: copy)
        return copy
    }

    /// The realms.conf of the package that a file of its tests is in.
    static func configuration(_ file: String = #filePath) -> URL {
        URL(filePath: file).deletingLastPathComponent().appending(path: "../../realms.conf").standardized
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        body: String = ""
    ) async throws -> Answer {
        let response = try await respond(method, path, headers, body)
        let written = Written()
        try await response.body.write(written)
        written.end()
        var text = ""
        for await chunk in written.chunks { text += chunk }
        return Answer(status: response.status.code, headers: response.headers, text: text)
    }

    /// Sends a request whose response is a stream, and runs a closure while the stream is open.
    func listen(_ path: String, _ headers: HTTPFields, _ test: (Stream) async throws -> Void) async throws {
        let response = try await respond(.get, path, headers, "")
        let written = Written()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [body = response.body] in
                try await body.write(written)
                written.end()
            }
            defer { group.cancelAll() }
            try await test(Stream(written))
        }
    }

    private func respond(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields,
        _ body: String
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method,
            scheme: "https",
            authority: "localhost",
            path: path,
            headerFields: headers
        )
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: logger)
        let context = Context(source: source)
        do {
            return try await responder.respond(to: request, context: context)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        }
    }

    /// Signs a user in, and returns the session as the value of a `Cookie` field.
    func signIn(_ name: String) async throws -> String {
        let body = #"{"username": "\#(name)", "password": "any"}"#
        let answer = try await send(.post, "/session", [.contentType: "application/json"], body: body)
        let cookie = answer.headers[values: .setCookie].first { $0.hasPrefix("__Host-gatehouse=") }
        return cookie.map { String($0.prefix { $0 != ";" }) } ?? ""
    }
}

/// The text of a response that is a stream.
final class Stream {
    private let written: Written
    /// The text that has been read and not returned yet.
    private var rest = ""

    fileprivate init(_ written: Written) { self.written = written }

    /// Reads until a text has arrived or the stream has ended.
    func read(until end: String?) async -> String {
        func isEnough() -> Bool { end.map { rest.contains($0) } ?? false }
        if !isEnough() {
            for await chunk in written.chunks {
                rest += chunk
                if isEnough() { break }
            }
        }
        let range = end.flatMap { rest.range(of: $0) }
        let read = range.map { String(rest[..<$0.upperBound]) } ?? rest
        rest = range.map { String(rest[$0.upperBound...]) } ?? ""
        return read
    }
}

/// The bytes of a body that have been written.
private final class Written: ResponseBodyWriter, Sendable {
    let chunks: AsyncStream<String>
    private let chunk: AsyncStream<String>.Continuation

    init() { (chunks, chunk) = AsyncStream.makeStream(of: String.self) }

    func write(_ buffer: ByteBuffer) async throws { chunk.yield(String(buffer: buffer)) }

    func finish(_ trailingHeaders: HTTPFields?) async throws { end() }

    func end() { chunk.finish() }
}
