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
        secret.withBytes { bytes in
            UTF8Text(validating: bytes) != nil && !bytes.indices.contains { bytes[$0] == 0 }
        }
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
            let body = try RealmAPIBody(response, paths: ["/realms/*/name", "/realms/*/auth_type"])
            let names = try body.elements("/realms/*/name")
            let types = try body.elements("/realms/*/auth_type")
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
            let body = try RealmAPIBody(
                response,
                paths: [
                    "/outcome", "/reason", "/user", "/groups", "/principals/*/kind", "/principals/*/name",
                    "/attributes/*",
                ]
            )
            let outcome = try body.text("/outcome")
            let reason = try body.text("/reason")
            switch outcome.map({ UTF8Text($0) }) {
            case "accepted":
                guard reason == nil else { throw Fault(reason: "an accepted user has a reason for a refusal") }
                self = .accepted(
                    user: try Self.user(body),
                    principals: try Self.principals(body),
                    attributes: try body.members("/attributes/*")
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
            guard let text = try body.text("/user") else { throw Fault(reason: "there is no user name") }
            return try Result { () throws(BadUsername) in try Username(text) }
                .mapError { Fault(reason: "the user name cannot be used: \($0)") }.get()
        }

        private static func principals(_ body: RealmAPIBody) throws(Fault) -> [Principal] {
            _ = try body.texts("/groups")
            let kinds = try body.elements("/principals/*/kind")
            let names = try body.elements("/principals/*/name")
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
                let body = try RealmAPIBody(response, paths: ["/error", "/reason"])
                guard let error = try body.text("/error") else { return nil }
                self.error = error
                reason = try body.text("/reason")
            } catch {
                return nil
            }
        }
    }
}

/// The values in the JSON body of a response of the realm API.
struct RealmAPIBody {
    private let values: [String: JSONValues]

    init(_ response: RemoteTransport.Response, paths: [String]) throws(RealmAPIAnswer.Fault) {
        guard JSONMediaType.isJSON(response.contentType ?? "") else {
            throw RealmAPIAnswer.Fault(reason: "it has the type \(response.contentType ?? "none"), not JSON")
        }
        let known = paths.compactMap { text in JSONPath(text).map { (text, $0) } }
        let found = try Result { () throws(JSONFault) in
            try JSONValues.read(known.map(\.1), in: response.body.span)
        }.mapError { RealmAPIAnswer.Fault(reason: "it is not valid JSON: \($0.description)") }.get()
        values = Dictionary(zip(known.map(\.0), found)) { first, _ in first }
    }

    private func found(_ path: String) throws(RealmAPIAnswer.Fault) -> JSONValues {
        let found = values[path] ?? JSONValues()
        guard !found.hasWrongType else { throw fault(path, "is not a text") }
        return found
    }

    private func fault(_ path: String, _ text: String) -> RealmAPIAnswer.Fault {
        RealmAPIAnswer.Fault(reason: "\(path) \(text)")
    }

    func text(_ path: String) throws(RealmAPIAnswer.Fault) -> String? {
        let found = try found(path)
        guard !found.hasArray else { throw fault(path, "is not a text") }
        return found.strings.first
    }

    func texts(_ path: String) throws(RealmAPIAnswer.Fault) -> [String] {
        let found = try found(path)
        guard found.hasArray else { throw fault(path, "is missing, or no array of texts") }
        return found.strings
    }

    /// Returns the strings at a path with `*`, one for each element of the array.
    func elements(_ path: String) throws(RealmAPIAnswer.Fault) -> [String] {
        let found = try found(path)
        guard found.isPresent, !found.hasArray, found.elements == found.strings.count,
            found.names.allSatisfy({ $0 == nil })
        else { throw fault(path, "is missing, or is no text") }
        return found.strings
    }

    func members(_ path: String) throws(RealmAPIAnswer.Fault) -> [String: [String]] {
        let found = try found(path)
        var members: [String: [String]] = [:]
        for (name, value) in zip(found.names, found.strings) {
            guard let name else { throw fault(path, "is no member of an object") }
            members[name.string, default: []].append(value)
        }
        return members
    }
}
