// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import Hummingbird
internal import Mustache
internal import NIOCore

/// An answer that is a page in a browser and a few lines of text elsewhere.
struct Page {
    var status: HTTPResponse.Status = .ok
    let title: String
    /// The text after the title; for other clients than browsers this is all.
    let lines: [String]
    /// Names and values under the text.
    var facts: [Fact] = []
    var headers = HTTPFields()

    /// A name and what belongs to it.
    struct Fact {
        let name: String
        let values: [String]
        /// Whether the name is a path to go to.
        var isLink = false
    }

    func response(asHTML: Bool) -> Response {
        var headers = headers
        headers[.contentType] = asHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"
        headers[.vary] = "Accept, Authorization"
        headers[.cacheControl] = "no-store"
        let body = ByteBuffer(string: body(asHTML: asHTML))
        headers[.contentLength] = String(body.readableBytes)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    func body(asHTML: Bool) -> String { asHTML ? html : text }

    private var text: String {
        let facts = facts.filter(\.isLink).map { "\($0.name)  \($0.values.joined(separator: ", "))" }
        return (lines + facts).joined(separator: "\n") + "\n"
    }

    private var html: String {
        let facts = facts.map { fact in
            ["name": fact.name, "values": fact.values, "isLink": fact.isLink] as [String: Any]
        }
        return Self.template.render(
            [
                "title": title, "lines": lines.filter { $0 != title }, "hasFacts": !facts.isEmpty, "facts": facts,
                "status": status.code >= 400 ? ["\(status.code)"] : [],
            ] as [String: Any]
        )
    }

    private static let template: MustacheTemplate = PageTemplate.compiled
}

extension Request {
    /// Whether the client is one that shows HTML: it says so, and does not take it back with a weight of 0.
    var prefersHTML: Bool {
        let types = headers[values: .accept].flatMap { $0.split(separator: ",") }
        return types.contains { type in
            let parts = type.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let name = parts.first, name == "text/html" || name == "application/xhtml+xml" else { return false }
            return !parts.dropFirst().contains { parameter in
                guard parameter.hasPrefix("q=") else { return false }
                return Double(parameter.dropFirst(2)) == 0
            }
        }
    }
}
