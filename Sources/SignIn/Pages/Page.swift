// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
package import HTTPTypes
internal import Mustache
internal import NIOCore
internal import RealmConfiguration
internal import Synchronization

/// A response that is rendered as an HTML page for browsers and as plain text for other clients.
package struct Page: Sendable {
    package var status: HTTPResponse.Status = .ok
    package let title: String
    /// The text after the title.
    ///
    /// Clients other than browsers get only these lines.
    package var lines: [String] = []
    /// Names and values below the text.
    var facts: [Fact] = []
    /// Further parts of the page, for browsers only.
    var parts: [Part] = []
    var headers = HTTPFields()
    /// The kind of the page, which determines its security headers.
    var kind = SecurityHeaders.Kind.plain
    /// True if the page shows an error of the form; its title then begins with `Error:`.
    ///
    /// A screen reader reads the title first.
    var isError = false
    /// Another origin to which the response to a form of the page may redirect; nil if there is none.
    var formTarget: String?

    /// A page with a title and lines of text.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - title: The title. A browser shows it as the heading.
    ///   - lines: The text after the title. Clients other than browsers get only these lines.
    ///   - facts: Names and values below the text.
    package init(
        status: HTTPResponse.Status = .ok,
        title: String,
        lines: [String] = [],
        facts: [Fact] = []
    ) {
        self.status = status
        self.title = title
        self.lines = lines
        self.facts = facts
    }

    /// A name and its values.
    package struct Fact: Sendable {
        let name: String
        let values: [String]
        /// True if the name is a path that is shown as a link.
        var isLink = false
    }

    /// A part of a page that has its own template.
    struct Part: Sendable {
        /// The rendered HTML.
        ///
        /// All values of the template are escaped.
        let html: String

        /// The part that a template renders.
        init(_ template: MustacheTemplate, _ values: [String: Any]) { html = template.render(values) }
    }

    /// Renders the page and adds the header fields that all pages have.
    ///
    /// - Parameters:
    ///   - asHTML: True for HTML, false for text.
    ///   - context: The context of the configuration.
    /// - Returns: The response.
    package func rendered(asHTML: Bool, in context: PageContext) -> RenderedResponse {
        var headers = headers
        headers[.contentType] = asHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"
        headers[.vary] = "Accept, Authorization, Cookie"
        headers[.cacheControl] = "no-store"
        context.security.add(to: &headers, for: kind, formTarget: formTarget)
        return RenderedResponse(
            HTTPResponse(status: status, headerFields: headers),
            text: asHTML ? html(in: context) : text
        )
    }

    private var text: String {
        let facts = facts.filter(\.isLink).map { "\($0.name)  \($0.values.joined(separator: ", "))" }
        return (lines + facts).joined(separator: "\n") + "\n"
    }

    private func html(in context: PageContext) -> String {
        let (routes, brand) = (context.routes, context.brand)
        let script: PageAsset? =
            switch kind {
            case .withScript: .script
            case .formWithScript: .formScript
            case .plain, .form, .image: nil
            }
        let facts = facts.map { fact in
            ["name": fact.name, "values": fact.values, "isLink": fact.isLink] as [String: Any]
        }
        return PageTemplate.frame.render(
            [
                "title": title, "lines": lines.filter { $0 != title }, "hasFacts": !facts.isEmpty, "facts": facts,
                "status": status.code >= 400 ? ["\(status.code)"] : [], "parts": parts.map(\.html),
                "isError": isError, "style": routes.path(of: .style), "icon": routes.path(of: .icon),
                "script": script.map { [routes.path(of: $0)] } ?? [], "prefix": routes.prefix, "brand": brand.name,
                "titleBrand": title == brand.name ? [] : [brand.name], "footer": brand.footer.map { [$0] } ?? [],
                "help": brand.helpLink.map { [$0] } ?? [],
                "logo": brand.logo == nil ? [] : [routes.path(of: .logo)],
            ] as [String: Any]
        )
    }
}
