// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The responses of the realm API.
///
/// They are read as strictly as `RemoteRealm` reads them: a body that is not JSON, has a member twice, or lacks a part
/// of the answer accepts no user.
enum RealmAPIAnswer {
    /// The reason why a response cannot be used.
    struct Fault: Error {
        let reason: String
    }

    /// The list of realms.
    struct Realms: Encodable {
        struct Realm: Encodable {
            let name: String
            let authType: String

            enum CodingKeys: String, CodingKey {
                case name
                case authType = "auth_type"
            }
        }

        let realms: [Realm]

        init(_ response: RemoteTransport.Response) throws(Fault) {
            let body = try RealmAPIBody(response, paths: ["/realms/*/name", "/realms/*/auth_type"])
            let names = try body.elements("/realms/*/name")
            let types = try body.elements("/realms/*/auth_type")
            realms = zip(names, types).map { Realm(name: $0, authType: $1) }
        }
    }

    struct Principal: Encodable {
        let kind: String
        let name: String
    }

    /// The outcome of a check.
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
            do throws(BadUsername) {
                return try Username(text)
            } catch {
                throw Fault(reason: "the user name cannot be used: \(error)")
            }
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

/// The result of `authcheck --server` as JSON.
struct RemoteReportJSON: Encodable {
    let accepted: Bool
    let server: String
    let realm: String
    var user: String
    var reason: String?
    var error: String?
    var principals: [RealmAPIAnswer.Principal]?
    var attributes: [String: [String]]?
}
