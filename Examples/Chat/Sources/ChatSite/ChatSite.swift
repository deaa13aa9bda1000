// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import FoundationEssentials
internal import HTTPTypes
public import Hummingbird
public import HummingbirdRealms
internal import NIOCore

/// Returns the routes of the chat, with their access rules.
///
/// - Parameters:
///   - realms: The realms that authenticate users.
///   - room: The chat room.
/// - Returns: The router.
/// - Throws: ``RealmError`` when the configuration does not have a realm of the sign-in page.
public func makeRouter(_ realms: Realms, _ room: Room) throws -> Router<BasicRealmRequestContext> {
    let router = Router(context: BasicRealmRequestContext.self)
    router.add(middleware: SignInPages(realms))
    router.get("/chat.css") { _, _ in asset(stylesheet, "text/css; charset=utf-8") }
    router.get("/chat.js") { _, _ in asset(script, "text/javascript; charset=utf-8") }

    router.group()
        .add(middleware: try RealmAuthenticator(realms, schemes: [.form]))
        .add(middleware: RequireUser())
        .get("/") { _, context in page(for: try context.requireUser(), csrfToken: context.csrfToken ?? "") }
        .post("/messages") { request, context in try await post(request, context, in: room) }

    // An open event stream does not extend the idle time of its session.
    router.group()
        .add(middleware: try RealmAuthenticator(realms, schemes: [.form], isActivity: false))
        .add(middleware: RequireUser())
        .get("/messages") { request, context in try listen(request, context, realms, in: room) }
    return router
}

/// The body of a `POST /messages`.
private struct NewMessage: Decodable {
    let text: String
}

private func post(
    _ request: Request,
    _ context: BasicRealmRequestContext,
    in room: Room
) async throws -> Response {
    let user = try context.requireUser()
    guard context.isCSRFToken(request.headers[.csrfToken]) else { throw HTTPError(.forbidden) }
    // The bytes are compared, because == of String takes quadratic time for some texts that an attacker can send.
    guard let type = request.headers[.contentType], type.utf8.elementsEqual("application/json".utf8) else {
        throw HTTPError(.unsupportedMediaType)
    }
    let body = try await request.body.collect(upTo: 4 * Room.maximumBytes)
    let message: NewMessage
    do {
        message = try JSONDecoder().decode(NewMessage.self, from: Data(body.readableBytesView))
    } catch {
        throw HTTPError(.badRequest)
    }
    switch room.post(message.text, by: user) {
    case .posted: return Response(status: .created)
    case .tooSoon(let seconds): throw HTTPError(.tooManyRequests, headers: [.retryAfter: "\(seconds)"])
    case .unusable: throw HTTPError(.unprocessableContent)
    }
}

/// Returns the stream of messages, as server-sent events (HTML standard, section 9.2).
private func listen(
    _ request: Request,
    _ context: BasicRealmRequestContext,
    _ realms: Realms,
    in room: Room
) throws -> Response {
    guard let session = context.session else { throw HTTPError(.forbidden) }
    let watch = try realms.watch(session)
    let listening = room.listen(after: request.headers[.lastEventID].flatMap { Int($0) })
    let body = ResponseBody { writer in
        async let _ = watch.onEnd(beat: { listening.beat() }) { listening.end() }
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        for await event in listening.events { try await writer.write(ByteBuffer(string: try text(of: event))) }
        try await writer.write(ByteBuffer(string: "event: ended\ndata: {}\n\n"))
        try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8"], body: body)
}

/// Returns an event in the format of the stream.
///
/// JSON escapes line breaks, so every message is one line.
private func text(of event: Event) throws -> String {
    switch event {
    case .beat: return ":\n\n"
    case .message(let message):
        let data = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
        return "id: \(message.number)\ndata: \(data)\n\n"
    }
}

private func asset(_ text: String, _ type: String) -> Response {
    let headers: HTTPFields = [
        .contentType: type, .cacheControl: "max-age=3600", .xContentTypeOptions: "nosniff",
    ]
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}

extension HTTPField.Name {
    /// The field with the CSRF token, which only pages of this site can read.
    fileprivate static var csrfToken: Self? { Self("X-CSRF-Token") }
    fileprivate static var lastEventID: Self? { Self("Last-Event-ID") }
}

extension HTTPFields {
    fileprivate subscript(name: HTTPField.Name?) -> String? { name.flatMap { self[$0] } }
}
