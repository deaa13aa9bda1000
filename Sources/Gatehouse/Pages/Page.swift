// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import Mustache
internal import NIOCore
internal import Synchronization

/// An answer that is a page in a browser and a few lines of text elsewhere.
struct Page: Sendable {
    var status: HTTPResponse.Status = .ok
    let title: String
    /// The text after the title; for other clients than browsers this is all.
    var lines: [String] = []
    /// Names and values under the text.
    var facts: [Fact] = []
    /// What a browser is shown besides.
    var parts: [Part] = []
    var headers = HTTPFields()
    /// What the page has to be able to do.
    var kind = SecurityHeaders.Kind.plain

    /// A name and what belongs to it.
    struct Fact: Sendable {
        let name: String
        let values: [String]
        /// Whether the name is a path to go to.
        var isLink = false
    }

    /// A part of a page with a template of its own.
    struct Part: Sendable {
        /// HTML that a template has made, in which everything that came from outside is escaped.
        let html: String

        /// Has a template make it.
        init(_ template: MustacheTemplate, _ values: [String: Any]) { html = template.render(values) }
    }

    /// What is the same around all pages.
    struct Frame: Sendable {
        private static let generations = Atomic(0)

        let security: SecurityHeaders
        let places: Places
        // Another after each reload, as pages that were made before may be others now.
        private let generation: Int

        init(security: SecurityHeaders, places: Places) {
            self.security = security
            self.places = places
            generation = Self.generations.add(1, ordering: .relaxed).newValue
        }

        /// Under what a session keeps a response that was made with this frame.
        func key(_ key: VerifiedCredentials.PageKey) -> Int { generation * 8 + key.rawValue }
    }

    /// The response with this page, and the fields that every page of ours has.
    ///
    /// - Parameters:
    ///   - asHTML: Whether for a browser.
    ///   - frame: What is the same around all pages.
    /// - Returns: Head and body.
    func rendered(asHTML: Bool, _ frame: Frame) -> (head: HTTPResponse, body: ByteBuffer) {
        var headers = headers
        headers[.contentType] = asHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"
        headers[.vary] = "Accept, Authorization, Cookie"
        headers[.cacheControl] = "no-store"
        frame.security.add(to: &headers, for: kind)
        let text = asHTML ? html(frame.places) : text
        return (HTTPResponse(status: status, headerFields: headers), ByteBuffer(string: text))
    }

    private var text: String {
        let facts = facts.filter(\.isLink).map { "\($0.name)  \($0.values.joined(separator: ", "))" }
        return (lines + facts).joined(separator: "\n") + "\n"
    }

    private func html(_ places: Places) -> String {
        let facts = facts.map { fact in
            ["name": fact.name, "values": fact.values, "isLink": fact.isLink] as [String: Any]
        }
        return PageTemplate.frame.render(
            [
                "title": title, "lines": lines.filter { $0 != title }, "hasFacts": !facts.isEmpty, "facts": facts,
                "status": status.code >= 400 ? ["\(status.code)"] : [], "parts": parts.map(\.html),
                "style": places.style, "script": kind == .live ? [places.script] : [], "prefix": places.prefix,
            ] as [String: Any]
        )
    }
}
