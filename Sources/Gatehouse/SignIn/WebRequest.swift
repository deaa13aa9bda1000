// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmKit
internal import Sessions

/// A request as the sign-in pages and the session API see it, whichever server it came to.
struct WebRequest: Sendable {
    /// The method as it came.
    let method: String
    let path: RequestPath
    /// What stands behind the `?`, as it came.
    let query: String
    /// Host and port, as the client has named them.
    let authority: String
    /// Where it came from, as far as proxies that are trusted have said.
    let address: String?
    let cookies: OurCookies
    /// The other fields; no cookies and no credentials.
    let fields: HTTPFields
    let body: RequestBody

    /// Whether it asks for HTML.
    var asHTML: Bool { AcceptField.prefersHTML(fields) }

    /// Whether it is one that changes nothing.
    var isSafe: Bool { method == "GET" || method == "HEAD" }

    /// Who asks.
    var asker: Asker { Asker(fields) }

    /// Who has sent it, as far as a session is to remember.
    var client: SessionClient { SessionClient(address: address, userAgent: fields[.userAgent] ?? "") }

    /// The type of the body, without parameters and in lower case.
    var contentType: String {
        (fields[.contentType] ?? "").prefix { $0 != ";" }.trimmingBlanks.lowercased()
    }

    /// Whether the body is a form's.
    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    /// Whether a page of another site has sent it, as far as browsers say.
    ///
    /// A request of a program says nothing and is not held for one; a browser always says one or the other with a request
    /// that changes something. Source: Fetch Metadata; RFC 6454 section 7.
    var isCrossOrigin: Bool {
        let origins = fields[values: .origin]
        let site = fields[.secFetchSite]
        if let site, site != "same-origin", site != "none" { return true }
        guard let origin = origins.first else { return false }
        // Of a page that sends no referrer a browser says nothing more, and the other field has said enough.
        if origin == "null", site != nil { return origins.count > 1 }
        return origins.count > 1 || !isOwn(origin)
    }

    private func isOwn(_ origin: String) -> Bool {
        let scheme = "https://"
        guard origin.hasPrefix(scheme), !authority.isEmpty else { return false }
        func bare(_ authority: Substring) -> String {
            let text = authority.lowercased()
            return text.hasSuffix(":443") ? String(text.dropLast(4)) : text
        }
        return bare(origin.dropFirst(scheme.count)).utf8.elementsEqual(bare(authority[...]).utf8)
    }

    /// The body, if it is not too long.
    ///
    /// - Returns: Nil for a body of more than ``bodyLimit`` bytes, and for one that has not come to its end.
    func collectedBody() async -> ByteBuffer? {
        do {
            return try await body.collect(upTo: Self.bodyLimit)
        } catch {
            // Too long, or the client has gone: there is nobody to tell the difference.
            return nil
        }
    }

    /// The longest body that is read, in bytes: a name, a password, answers.
    static let bodyLimit = 32_768
}

extension StringProtocol {
    /// The text without blanks at its ends.
    var trimmingBlanks: Substring {
        var text = Substring(self)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
