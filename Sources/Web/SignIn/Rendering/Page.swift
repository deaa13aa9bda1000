// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import HTTPTypes
internal import Mustache
internal import NIOCore

/// A response that is rendered as an HTML page for browsers and as plain text for other clients.
package struct Page: Sendable {
    package var status: HTTPResponse.Status = .ok
    package let title: Message
    /// The text after the title; clients other than browsers get only these lines.
    package var lines: [Message] = []
    var facts: [Fact] = []
    /// Further parts of the page, for browsers only.
    var parts: [Part] = []
    var headers = HTTPFields()
    var kind = SecurityHeaders.Kind.plain
    /// True for the page of a redirect, of which all but the link is rendered once.
    var isRedirect = false
    /// True if the page shows an error of the form.
    ///
    /// Its title, which a screen reader reads first, then begins with `Error:`.
    var isError = false

    package init(
        status: HTTPResponse.Status = .ok,
        title: Message,
        lines: [Message] = [],
        facts: [Fact] = []
    ) {
        self.status = status
        self.title = title
        self.lines = lines
        self.facts = facts
    }

    package struct Fact: Sendable {
        let name: Message
        let values: [Message]
        /// True if the name is a path that is shown as a link.
        var isLink = false
    }

    /// A part of a page that has its own template.
    struct Part: Sendable {
        /// Returns the HTML, in which all values of the template are escaped.
        let html: @Sendable (Translation) -> String

        /// The template reads the texts of the translation by the name `text`.
        init(_ template: MustacheTemplate, _ values: @escaping @Sendable (Translation) -> [String: Any]) {
            html = { translation in
                var values = values(translation)
                values["text"] = translation.texts
                return template.render(values)
            }
        }
    }

    /// Renders the page and adds the header fields that all pages have.
    package func rendered(as representation: Representation, in context: PageContext) -> RenderedResponse {
        let translation = context.translations.all[representation.language]
        var headers = headers
        headers[.contentType] = representation.isHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"
        headers[.vary] = "Accept, Accept-Language, Authorization, Cookie"
        headers[.cacheControl] = "no-store"
        let script = kind == .formWithScript ? context.formScripts[representation.language] : nil
        context.security.add(to: &headers, for: kind, script: script?.policySource)
        let text: String
        if !representation.isHTML {
            text = self.text(in: translation)
        } else if isRedirect {
            let frame = context.redirectFrames[representation.language]
            text = frame.start + parts.map { $0.html(translation) }.joined() + frame.end
        } else {
            text = html(in: context, translation, script)
        }
        return RenderedResponse(status, headers, body: ByteBuffer(string: text))
    }

    /// A redirect with status 303: the browser requests the location by GET (RFC 9110 section 15.4.4).
    static func redirect(to location: String) -> Page {
        var page = Page(status: .seeOther, title: .key(.continue), lines: [.key(.continue)])
        page.headers[.location] = location
        page.parts = [.link(to: location, .key(.continue))]
        page.kind = .form
        page.isRedirect = true
        return page
    }

    /// Returns the HTML of a redirect in a language, before and after its link.
    static func redirectFrame(in context: PageContext, _ translation: Translation) -> (start: String, end: String) {
        var page = redirect(to: "")
        page.parts = []
        let html = page.html(in: context, translation, nil)
        // The parts of a page are at the end of `main`.
        guard let end = html.utf8.firstRange(of: "</main>".utf8)?.lowerBound else { return (html, "") }
        return (String(html[..<end]), String(html[end...]))
    }

    private func text(in translation: Translation) -> String {
        let facts = facts.filter(\.isLink).map { fact in
            let values = fact.values.map { $0.text(in: translation) }
            return "\(fact.name.text(in: translation))  \(values.joined(separator: ", "))"
        }
        return (lines.map { $0.text(in: translation) } + facts).joined(separator: "\n") + "\n"
    }

    private func help(_ brand: SignInBrand, _ translation: Translation) -> [[String: String]] {
        guard let link = brand.helpLink else { return [] }
        let label = brand.helpText?.text(in: translation.language) ?? translation[.help]
        return [["link": link.text(in: translation.language), "label": label]]
    }

    private func html(in context: PageContext, _ translation: Translation, _ inlineScript: InlineScript?) -> String {
        let (routes, brand) = (context.routes, context.brand)
        let facts = facts.map { fact in
            [
                "name": fact.name.text(in: translation), "values": fact.values.map { $0.text(in: translation) },
                "isLink": fact.isLink,
            ] as [String: Any]
        }
        let heading = title.text(in: translation)
        let lines = lines.map { $0.text(in: translation) }.filter { !$0.utf8.elementsEqual(heading.utf8) }
        let windowTitle = isError ? translation.text(.errorTitle, ["title": heading]) : heading
        return PageTemplate.frame.render(
            [
                "language": translation.language, "text": translation.texts, "title": heading,
                "windowTitle": windowTitle, "lines": lines, "hasFacts": !facts.isEmpty, "facts": facts,
                "status": status.code >= 400 ? ["\(status.code)"] : [], "parts": parts.map { $0.html(translation) },
                "style": routes.path(of: .style), "icon": PageIcon.url,
                "script": kind == .withScript ? [routes.path(of: .script)] : [], "prefix": routes.prefix,
                "inlineScript": inlineScript.map { [$0.text] } ?? [], "brand": brand.name,
                "titleBrand": heading.utf8.elementsEqual(brand.name.utf8) ? [] : [brand.name],
                "footer": brand.footer.map { [$0.text(in: translation.language)] } ?? [],
                "help": help(brand, translation),
                "logo": brand.logo == nil ? [] : [routes.path(of: .logo)],
            ] as [String: Any]
        )
    }
}

/// A text on a page.
package enum Message: Sendable, Hashable {
    /// A text in the language of the user, with values by the name of their placeholder.
    case key(MessageKey, [String: Message] = [:])
    case text(String)
    case localized(LocalizedText)

    package init(_ key: MessageKey, _ values: [String: Message] = [:]) { self = .key(key, values) }

    /// A text that is the same in all languages, such as the name of a user.
    package static func verbatim(_ text: some CustomStringConvertible) -> Message { .text(text.description) }

    package func text(in translation: Translation) -> String {
        switch self {
        case .key(let key, let values): translation.text(key, values.mapValues { $0.text(in: translation) })
        case .text(let text): text
        case .localized(let text): text.text(in: translation.language)
        }
    }
}
