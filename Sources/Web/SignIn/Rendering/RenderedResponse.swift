// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import HTTPTypes
package import NIOCore
package import RealmKit
package import Sessions

/// A response, with what the log line of its request needs.
package struct RenderedResponse: Sendable {
    /// The status and the header fields, without `Content-Length`.
    package var head: HTTPResponse
    package var body: ByteBuffer
    /// The events that follow the body as their ``NumberedSessionEvent/text``; nil for a response of known length.
    package var events: SessionEvents?
    package var report: LoginReport?
    /// The user of the session, if there is one.
    package var user: SignedInUser?
    /// A remark, such as the name of the program that used the realm API.
    package var remark = ""
    /// The rule of the page that a refused sign-in was for; empty if there is none.
    package var rule = ""

    package init(
        _ status: HTTPResponse.Status,
        _ headers: HTTPFields = HTTPFields(),
        body: ByteBuffer = ByteBuffer(),
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) {
        head = HTTPResponse(status: status, headerFields: headers)
        (self.body, self.user, self.report) = (body, user, report)
    }
}

/// The form of a page that suits a client: HTML or text, and the language (RFC 9110 section 12).
package struct Representation: Sendable, Hashable {
    package let isHTML: Bool
    /// The index of the translation in the translations of the configuration.
    package let language: Int

    package init(isHTML: Bool, language: Int = 0) {
        self.isHTML = isHTML
        self.language = language
    }

    package init(for fields: HTTPFields, in translations: Translations) {
        isHTML = AcceptField.prefersHTML(fields)
        language = AcceptLanguageField.index(for: fields, in: translations)
    }
}
