// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The JSON body of a check, without copies of the secrets that are not wiped.
enum CheckBody {
    /// The maximum length of a body that a server reads, in bytes; see docs/realm-api.md.
    static let maximumBytes = 32_768

    /// Returns the body; nil if no server reads it: a secret is not UTF-8, or contains NUL, or the body is too long.
    static func make(username: Username, password: Secret, codes: [Secret], service: String) -> Secret? {
        guard ([password] + codes).allSatisfy(isUsable) else { return nil }
        let name = Secret(utf8: username.text)
        let serviceName = Secret(utf8: service)
        let strings = [name, password, serviceName] + codes
        let capacity = strings.reduce(96) { $0 + JSONEscapes.capacity(for: $1.count) + 1 }
        let body = Secret(capacity: capacity) { output in
            append("{\"username\":", name, to: &output)
            append(",\"password\":", password, to: &output)
            append(",\"service\":", serviceName, to: &output)
            for (index, code) in codes.enumerated() { append(index == 0 ? ",\"codes\":[" : ",", code, to: &output) }
            for byte in (codes.isEmpty ? "}" : "]}").utf8 { output.append(byte) }
        }
        return body.count <= maximumBytes ? body : nil
    }

    private static func isUsable(_ secret: Secret) -> Bool {
        secret.withBytes { bytes in bytes.isUTF8 && !bytes.indices.contains { bytes[$0] == 0 } }
    }

    private static func append(_ text: String, _ secret: Secret, to output: inout OutputSpan<UInt8>) {
        for byte in text.utf8 { output.append(byte) }
        secret.withBytes { JSONEscapes.required.append($0, to: &output) }
    }
}

/// The responses of the realm API.
///
/// They are read as strictly as `RemoteRealm` reads them: a body that is not JSON, has a member twice, or lacks a part
/// of the answer accepts no user.
enum RealmAPIAnswer {
    struct Fault: Error {
        let reason: String
    }

    struct Realms {
        let realms: [(name: String, authType: String)]

        var json: JSONValue {
            let list = realms.map { ["name": .text($0.name), "auth_type": .text($0.authType)] as JSONValue }
            return ["realms": .array(list)]
        }

        init(_ response: RemoteTransport.Response) throws(Fault) {
            let body = try RealmAPIBody(response)
            let names = try body.texts("realms", of: "name")
            let types = try body.texts("realms", of: "auth_type")
            realms = zip(names, types).map { (name: $0, authType: $1) }
        }
    }

    struct Principal {
        let kind: String
        let name: String

        var json: JSONValue { ["kind": .text(kind), "name": .text(name)] }
    }

    enum Outcome {
        /// The user is accepted; the name is that of the server.
        case accepted(user: Username, principals: [Principal], attributes: [String: [String]])
        case refused(LoginFailure)

        init(_ response: RemoteTransport.Response) throws(Fault) {
            let body = try RealmAPIBody(response)
            let outcome = try body.text("outcome")
            let reason = try body.text("reason")
            switch outcome.map({ UTF8Text($0) }) {
            case "accepted":
                guard reason == nil else { throw Fault(reason: "an accepted user has a reason for a refusal") }
                self = .accepted(
                    user: try Self.user(body),
                    principals: try Self.principals(body),
                    attributes: try body.members("attributes")
                )
            case "refused":
                guard let failure = reason.flatMap({ LoginFailure(code: $0) }) else {
                    throw Fault(reason: "the reason of the refusal is missing or not known")
                }
                self = .refused(failure)
            case _: throw Fault(reason: "the outcome is missing or not known")
            }
        }

        private static func user(_ body: RealmAPIBody) throws(Fault) -> Username {
            guard let text = try body.text("user") else { throw Fault(reason: "there is no user name") }
            return try Result { () throws(BadUsername) in try Username(text) }
                .mapError { Fault(reason: "the user name cannot be used: \($0)") }.get()
        }

        private static func principals(_ body: RealmAPIBody) throws(Fault) -> [Principal] {
            _ = try body.texts("groups")
            let kinds = try body.texts("principals", of: "kind")
            let names = try body.texts("principals", of: "name")
            return zip(kinds, names).map { Principal(kind: $0, name: $1) }
        }
    }

    /// The reason for a request that was not answered.
    struct Failure {
        let error: String
        let reason: String?

        /// Reads a body; nil if it has no such reason.
        init?(_ response: RemoteTransport.Response) {
            do throws(Fault) {
                let body = try RealmAPIBody(response)
                guard let error = try body.text("error") else { return nil }
                self.error = error
                reason = try body.text("reason")
            } catch {
                return nil
            }
        }
    }
}

/// The JSON body of a response of the realm API.
private struct RealmAPIBody {
    private let body: JSONValue

    init(_ response: RemoteTransport.Response) throws(RealmAPIAnswer.Fault) {
        guard JSONMediaType.isJSON(response.contentType ?? "") else {
            throw RealmAPIAnswer.Fault(reason: "it has the type \(response.contentType ?? "none"), not JSON")
        }
        body = try Result { () throws(JSONFault) in try JSONValue(reading: response.body.span) }
            .mapError { RealmAPIAnswer.Fault(reason: "it is not valid JSON: \($0.description)") }.get()
    }

    func text(_ name: String) throws(RealmAPIAnswer.Fault) -> String? {
        guard let value = body[name] else { return nil }
        guard let text = value.asText else { throw RealmAPIAnswer.Fault(reason: "/\(name) is not a text") }
        return text
    }

    func texts(_ name: String) throws(RealmAPIAnswer.Fault) -> [String] {
        guard let texts = body[name]?.asTexts else {
            throw RealmAPIAnswer.Fault(reason: "/\(name) is missing, or no array of texts")
        }
        return texts
    }

    /// Returns a text of each object in an array.
    func texts(_ name: String, of member: String) throws(RealmAPIAnswer.Fault) -> [String] {
        guard case .array(let elements)? = body[name], elements.allSatisfy({ $0[member]?.asText != nil }) else {
            throw RealmAPIAnswer.Fault(reason: "/\(name)/*/\(member) is missing, or is no text")
        }
        return elements.compactMap { $0[member]?.asText }
    }

    /// Returns the members of an object, each of which has one text or several.
    func members(_ name: String) throws(RealmAPIAnswer.Fault) -> [String: [String]] {
        guard let value = body[name] else { return [:] }
        guard let members = value.asLists else {
            throw RealmAPIAnswer.Fault(reason: "/\(name)/* is no member of an object, or no text")
        }
        return members
    }
}
