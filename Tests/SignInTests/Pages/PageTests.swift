// SPDX-License-Identifier: Apache-2.0

import Bytes
import NIOCore
import RealmConfiguration
import Testing

@testable import AccessControl
@testable import SignIn

@Suite struct PageTests {
    @Test func `text of a request is escaped in a page`() throws {
        let page = Page(
            title: Message(.welcome, ["user": .verbatim("<b>\"x\" & 'y'</b>")]),
            lines: [.verbatim("<script>")],
            facts: [Page.Fact(name: .verbatim("\"><i>"), values: [.verbatim("<u>")], isLink: true)]
        )
        let html = try page.text(asHTML: true)
        for tag in ["<b>", "<script>", "<i>", "<u>"] { #expect(!html.contains(tag)) }
        #expect(html.contains("&lt;script&gt;"))
    }

    @Test func `only error pages show a status`() throws {
        #expect(try !Page(title: .verbatim("Hello"), lines: []).text(asHTML: true).contains("class=\"status\""))
        #expect(try Page.notFound.text(asHTML: true).contains("<p class=\"status\">404</p>"))
    }

    @Test func `as plain text a page contains only its lines`() throws {
        let welcome = Message(.welcome, ["user": .verbatim("zed")])
        #expect(try Page(title: welcome, lines: [welcome]).text(asHTML: false) == "Welcome zed\n")
    }

    @Test func `the page of a redirect is the same as one that is rendered as a whole`() throws {
        let context = try PageContext.forTests()
        for language in context.translations.all.indices {
            var page = Page.redirect(to: "/a?b=\"</main>&c=1")
            let representation = Representation(isHTML: true, language: language)
            let response = page.rendered(as: representation, in: context)
            page.isRedirect = false
            let whole = page.rendered(as: representation, in: context)
            #expect(response.body == whole.body && response.head == whole.head)
            #expect(String(buffer: response.body).contains("/a?b=&quot;&lt;/main&gt;&amp;c=1"))
        }
    }

    @Test(
        arguments: [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true), ("*/*", false), ("", false),
            ("text/plain", false), ("TEXT/HTML", true), ("text/html;q=0", false), ("text/html; q=0.0, */*", false),
            ("application/json, text/html;q=0.1", true), ("text/htmlx", false), ("text/html;q=0.000;x", false),
            ("text/html;level=1;Q=0", false), ("text/html ; q=0.001", true), ("\ttext/html\t", true),
            ("text/html;", true),
            ("text/html;q=", true), ("text/html;q=00", true), ("text/html;q=0.", false), ("text/ html", false),
            (",,;,text/html", true), ("application/xhtml+xml", true), ("application/xhtml+xml;q=0", false),
            ("text/html;q=0,text/html", true), ("xtext/html", false), ("text/html;qq=0", true),
        ]
    )
    func `a client that accepts HTML gets HTML`(accept: String, expected: Bool) {
        #expect(AcceptField.prefersHTML(accept.utf8Span.span) == expected)
    }

    @Test func `a user name cannot forge log lines`() {
        #expect(LogText.quoted("zed\r\nx \"y\" \\ é\u{202E}") == #""zed\u{d}\u{a}x \"y\" \\ \u{e9}\u{202e}""#)
    }
}

extension PageContext {
    fileprivate static func forTests() throws -> PageContext {
        try PageContext(
            security: SecurityHeaders(isCertificateTrusted: true),
            links: SignInLinks(routes: Routes(prefix: "")),
            brand: SignInBrand()
        )
    }
}

extension Page {
    fileprivate func text(asHTML: Bool) throws -> String {
        String(buffer: rendered(as: Representation(isHTML: asHTML), in: try .forTests()).body)
    }
}
