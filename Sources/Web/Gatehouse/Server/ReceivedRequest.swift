// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer
internal import RealmConfiguration
internal import SignIn

/// The properties of a request that its response and its line in the access log need.
struct ReceivedRequest: Sendable {
    let method: String
    /// True if the method is safe: GET or HEAD.
    let isSafe: Bool
    /// The form of a page that suits the client.
    let representation: Representation
    /// The path; nil if it is ambiguous.
    let path: RequestPath?
    /// The time at which the request was received; 0 if the access log is disabled.
    let begin: UInt64
    var client: RequestClient
    /// The original request that a proxy describes in a forward-auth request.
    var original: OriginalRequest?
    /// A remark for the access log.
    var remark = ""
    /// The rule of a refused request, for the access log.
    var rule = ""

    init(_ head: borrowing RequestHead, on connection: Connection, at time: UInt64, _ translations: Translations) {
        method = head.methodText
        isSafe = head.method == .get || head.method == .head
        representation = Representation(
            isHTML: head.withFirst(.accept) { AcceptField.prefersHTML($0) } ?? false,
            language: head.withFirst(.acceptLanguage) { AcceptLanguageField.index(for: $0, in: translations) } ?? 0
        )
        path = head.withTarget { RequestPath(target: $0) }
        begin = time
        client = RequestClient(address: connection.peer)
    }

    /// Returns the kind of the client.
    ///
    /// Call this function only if the response depends on the kind.
    func clientKind(_ head: borrowing RequestHead) -> ClientKind {
        ClientKind(
            mode: head.values(named: "sec-fetch-mode").first,
            requestedWith: head.values(named: "x-requested-with").first,
            prefersHTML: representation.isHTML
        )
    }
}
