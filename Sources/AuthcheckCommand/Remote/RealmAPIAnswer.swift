// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import FoundationEssentials

/// The responses of the realm API.
enum RealmAPIAnswer {
    /// The list of realms.
    struct Realms: Codable {
        struct Realm: Codable {
            let name: String
            let authType: String

            enum CodingKeys: String, CodingKey {
                case name
                case authType = "auth_type"
            }
        }

        let realms: [Realm]
    }

    /// The outcome of a check.
    struct Outcome: Decodable {
        struct Principal: Codable {
            let kind: String
            let name: String
        }

        let outcome: String
        let reason: String?
        let user: String?
        let principals: [Principal]?
        let attributes: [String: [String]]?
    }

    /// The reason for a request that was not answered.
    struct Failure: Decodable {
        let error: String
        let reason: String?
    }

    /// Decodes a body; nil if it does not have the form.
    static func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) -> Value? {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            return nil
        }
    }
}

/// The result of `authcheck --server` as JSON.
struct RemoteReportJSON: Encodable {
    let accepted: Bool
    let server: String
    let realm: String
    let user: String
    var reason: String?
    var error: String?
    var principals: [RealmAPIAnswer.Outcome.Principal]?
    var attributes: [String: [String]]?
}
