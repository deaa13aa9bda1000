// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import HTTPSClient
package import RealmKit

/// The JSON body of a response of the realm API.
///
/// It is read as strictly as `RemoteRealm` reads it: a body that is not JSON, has a member twice, or lacks a part of the
/// answer accepts no user.
package struct RealmAPIResponse {
    package struct Fault: Error {
        package let reason: String
    }

    /// A realm that the server offers to this program.
    package struct ListedRealm {
        package let name: String
        package let authType: String

        fileprivate init(_ object: Element) throws(Fault) {
            name = try object.text("name")
            authType = try object.text("auth_type")
        }
    }

    /// A principal of an accepted user, such as a group.
    package struct ListedPrincipal {
        package let kind: String
        package let name: String

        fileprivate init(_ object: Element) throws(Fault) {
            kind = try object.text("kind")
            name = try object.text("name")
        }
    }

    package enum Outcome {
        /// The user is accepted; the name is that of the server.
        case accepted(Username, groups: [String], principals: [ListedPrincipal], attributes: [String: [String]])
        case refused(LoginFailure)
    }

    private let body: JSONValue

    package init(_ response: HTTPSResponse) throws(Fault) {
        let type = response["content-type"].first
        guard JSONMediaType.isJSON(type ?? "") else {
            throw Fault(reason: "it has the type \(type ?? "none"), not JSON")
        }
        body = try Result { () throws(JSONFault) in try JSONValue(reading: response.body.span) }
            .mapError { Fault(reason: "it is not valid JSON: \($0.description)") }.get()
    }

    package func realms() throws(Fault) -> [ListedRealm] { try elements("realms").map(ListedRealm.init) }

    package func outcome() throws(Fault) -> Outcome {
        let outcome = try text("outcome")
        let reason = try text("reason")
        switch outcome.map({ UTF8Text($0) }) {
        case "accepted":
            guard reason == nil else { throw Fault(reason: "an accepted user has a reason for a refusal") }
            guard let name = try text("user") else { throw Fault(reason: "there is no user name") }
            let user = try Result { () throws(BadUsername) in try Username(name) }
                .mapError { Fault(reason: "the user name cannot be used: \($0)") }.get()
            guard let groups = body["groups"]?.asTexts else {
                throw Fault(reason: "/groups is missing, or no array of texts")
            }
            let principals = try elements("principals").map(ListedPrincipal.init)
            guard let attributes = body["attributes"].map(\.asLists) ?? [:] else {
                throw Fault(reason: "/attributes/* is no member of an object, or no text")
            }
            return .accepted(user, groups: groups, principals: principals, attributes: attributes)
        case "refused":
            guard let failure = reason.flatMap({ LoginFailure(code: $0) }) else {
                throw Fault(reason: "the reason of the refusal is missing or not known")
            }
            return .refused(failure)
        case _: throw Fault(reason: "the outcome is missing or not known")
        }
    }

    /// The reason for a request that was not answered; nil if the body has none.
    package static func error(in response: HTTPSResponse) -> String? {
        do throws(Fault) {
            let answer = try RealmAPIResponse(response)
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

    private func elements(_ name: String) throws(Fault) -> [Element] {
        guard case .array(let elements)? = body[name] else {
            throw Fault(reason: "/\(name) is missing, or no array")
        }
        return elements.map { Element(array: name, value: $0) }
    }

    /// An element of an array of objects.
    fileprivate struct Element {
        let array: String
        let value: JSONValue

        func text(_ member: String) throws(Fault) -> String {
            guard let text = value[member]?.asText else {
                throw Fault(reason: "/\(array)/*/\(member) is missing, or is no text")
            }
            return text
        }
    }
}
