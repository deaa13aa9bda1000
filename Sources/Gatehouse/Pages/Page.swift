// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
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

    /// The response with this page, and the fields that every page of ours has.
    ///
    /// - Parameters:
    ///   - asHTML: Whether for a browser.
    ///   - security: What a browser is told of our pages.
    /// - Returns: Head and body.
    func rendered(asHTML: Bool, _ security: SecurityHeaders) -> (head: HTTPResponse, body: ByteBuffer) {
        var headers = headers
        headers[.contentType] = asHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"
        headers[.vary] = "Accept, Authorization"
        headers[.cacheControl] = "no-store"
        security.add(to: &headers)
        return (HTTPResponse(status: status, headerFields: headers), ByteBuffer(string: body(asHTML: asHTML)))
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
