// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import Hummingbird
internal import NIOCore
internal import RealmKit

/// What proxies ask.
extension GatehouseResponder {
    func authorize(
        _ flavour: ForwardAuthFlavour?,
        _ asked: Asked,
        _ cookies: OurCookies,
        _ head: borrowing RequestHead,
        _ connection: Connection
    ) -> Reply {
        var asked = asked
        guard ClientAddress.isTrusted(connection.peer, trusted) else {
            return reply(asked, forwardAuth.refusal("only trusted proxies may ask"), nil, " not-trusted")
        }
        // By its bytes: a path that is spelled in another way has got past a proxy that does not pass these on.
        guard let flavour, head.target.utf8.starts(with: "\(shelf.frame.places.prefix)/auth/\(flavour.rawValue)".utf8)
        else { return reply(asked, forwardAuth.refusal("nobody is asked here"), nil, "") }
        // Without it the proxy itself would stand for everybody, and be inside every network.
        guard asked.isForwarded else {
            return reply(asked, forwardAuth.refusal("the question is in doubt"), nil, " no-x-forwarded-for")
        }
        let original: OriginalRequest
        switch OriginalRequest.read(flavour, question(head, flavour)) {
        case .request(let read): original = read
        case .refused(let reason):
            let answer = forwardAuth.refusal("the question is in doubt")
            return reply(asked, answer, nil, " \(AccessLog.quoted(reason))")
        }
        asked.original = original
        // What came in clear text has shown everybody whatever it holds; our cookies are not sent that way.
        guard original.scheme == .https else {
            return reply(asked, forwardAuth.refusal("only https can be let in"), nil, " not-https")
        }
        let question = Gate.Asked(
            host: .read(original.host),
            path: original.path,
            method: original.method,
            address: asked.address,
            session: cookies.session
        )
        let about = ForwardAuth.Asked(
            flavour: flavour,
            original: original,
            asker: Self.asker(head, asked)
        )
        switch gate.begin(question, { Self.basic(head) }) {
        case .decided(let decision, let known):
            return reply(asked, forwardAuth.response(decision, about, known), known, "")
        case .login(let login):
            return .later { [asked] _ in
                let (decision, report) = await gate.decide(login)
                return response(asked, forwardAuth.rendered(decision, about, nil), report)
            }
        }
    }

    /// What a proxy's question says; the fields are looked up when they are asked for.
    private func question(_ head: borrowing RequestHead, _ flavour: ForwardAuthFlavour) -> OriginalRequest.Question {
        let names: [StaticString] =
            flavour == .nginx
            ? ["x-original-url", "x-original-method"]
            : ["x-forwarded-method", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-uri"]
        let values = names.map { ($0.description, head.values(named: $0)) }
        return OriginalRequest.Question(
            values: { name in values.first { $0.0 == name.description }?.1 ?? [] },
            method: head.methodText,
            target: head.target,
            host: head.host,
            prefix: shelf.frame.places.prefix + "/auth/envoy"
        )
    }
}
