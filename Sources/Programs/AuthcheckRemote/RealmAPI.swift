// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import RealmKit

/// The JSON body of a check, without copies of the secrets that are not wiped.
enum CheckBody {
    /// The maximum length of a body that a server reads, in bytes; see docs/realm-api.md.
    static let maximumBytes = 32_768

    /// Returns the body; nil if no server reads it: a secret is not UTF-8, or contains NUL, or the body is too long.
    static func make(username: Username, password: Secret, codes: [Secret], service: String) -> Secret? {
        let secrets = [password] + codes
        guard secrets.allSatisfy({ secret in secret.withBytes { $0.isUTF8 && !$0.containsNUL } }) else { return nil }
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

    private static func append(_ text: String, _ secret: Secret, to output: inout OutputSpan<UInt8>) {
        for byte in text.utf8 { output.append(byte) }
        secret.withBytes { JSONEscapes.required.append($0, to: &output) }
    }
}

/// The JSON body of a response of the realm API.
///
/// It is read as strictly as `RemoteRealm` reads it: a body that is not JSON, has a member twice, or lacks a part of the
/// answer accepts no user.
struct RealmAPIAnswer {
    struct Fault: Error {
        let reason: String
    }

    typealias Realm = (name: String, authType: String)
    typealias Principal = (kind: String, name: String)

    enum Outcome {
        /// The user is accepted; the name is that of the server.
        case accepted(Username, principals: [Principal], attributes: [String: [String]])
        case refused(LoginFailure)
    }

    private let body: JSONValue

    init(_ response: HTTPSResponse) throws(Fault) {
        let type = response["content-type"].first
        guard JSONMediaType.isJSON(type ?? "") else {
            throw Fault(reason: "it has the type \(type ?? "none"), not JSON")
        }
        body = try Result { () throws(JSONFault) in try JSONValue(reading: response.body.span) }
            .mapError { Fault(reason: "it is not valid JSON: \($0.description)") }.get()
    }

    func realms() throws(Fault) -> [Realm] { Array(zip(try texts("realms", "name"), try texts("realms", "auth_type"))) }

    func outcome() throws(Fault) -> Outcome {
        let outcome = try text("outcome")
        let reason = try text("reason")
        switch outcome.map({ UTF8Text($0) }) {
        case "accepted":
            guard reason == nil else { throw Fault(reason: "an accepted user has a reason for a refusal") }
            guard let name = try text("user") else { throw Fault(reason: "there is no user name") }
            let user = try Result { () throws(BadUsername) in try Username(name) }
                .mapError { Fault(reason: "the user name cannot be used: \($0)") }.get()
            guard body["groups"]?.asTexts != nil else {
                throw Fault(reason: "/groups is missing, or no array of texts")
            }
            let principals = Array(zip(try texts("principals", "kind"), try texts("principals", "name")))
            guard let attributes = body["attributes"].map(\.asLists) ?? [:] else {
                throw Fault(reason: "/attributes/* is no member of an object, or no text")
            }
            return .accepted(user, principals: principals, attributes: attributes)
        case "refused":
            guard let failure = reason.flatMap({ LoginFailure(code: $0) }) else {
                throw Fault(reason: "the reason of the refusal is missing or not known")
            }
            return .refused(failure)
        case _: throw Fault(reason: "the outcome is missing or not known")
        }
    }

    /// The reason for a request that was not answered; nil if the body has none.
    static func error(in response: HTTPSResponse) -> String? {
        do throws(Fault) {
            let answer = try RealmAPIAnswer(response)
            guard let error = try answer.text("error") else { return nil }
            return [error, try answer.text("reason")].compactMap(\.self).joined(separator: ", ")
        } catch {
            return nil
        }
    }

    private func text(_ name: String) throws(Fault) -> String? {
        guard let value = body[name] else { return nil }
        guard let text = value.asText else { throw Fault(reason: "/\(name) is not a text") }
        return text
    }

    /// Returns a text of each object in an array.
    private func texts(_ name: String, _ member: String) throws(Fault) -> [String] {
        guard case .array(let elements)? = body[name], elements.allSatisfy({ $0[member]?.asText != nil }) else {
            throw Fault(reason: "/\(name)/*/\(member) is missing, or is no text")
        }
        return elements.compactMap { $0[member]?.asText }
    }
}
