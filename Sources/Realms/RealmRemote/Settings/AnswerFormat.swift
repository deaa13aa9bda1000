// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The paths in the body of a response, and the table of outcomes.
struct AnswerFormat: Sendable {
    /// An attribute and its path.
    struct Attribute: Sendable {
        let name: String
        let path: JSONPath
    }

    var userPath: JSONPath?
    var groupsPath: JSONPath?
    /// The paths to the reason; the first one with a value counts.
    var reasonPaths: [JSONPath] = []
    var attributes: [Attribute] = []
    /// The path to the members of an object of attributes.
    var attributeMembers: JSONPath?
    var outcomes: OutcomeTable
    /// True if 401 and 403 mean that this program is not allowed to check passwords.
    var isGatehouse = false

    /// All paths, in the order in which ``AnswerChecks`` takes their values.
    var paths: [JSONPath] {
        [userPath, groupsPath].compactMap(\.self) + reasonPaths + attributes.map(\.path)
            + [attributeMembers].compactMap(\.self)
    }

    /// The format of `POST /realms/{realm}/check` of another Gatehouse.
    static func gatehouse() throws(BadValue) -> AnswerFormat {
        var words = LoginFailure.allCases.map { "200/\($0.code):\($0.code)" }
        words += ["200/accepted:accepted", "401:unavailable", "403:unavailable", "429:overloaded", "4xx:unavailable"]
        words += ["503/overloaded:overloaded", "5xx:unavailable"]
        var format = AnswerFormat(outcomes: try OutcomeTable(words))
        format.userPath = JSONPath("/user")
        format.groupsPath = JSONPath("/groups")
        format.reasonPaths = ["/reason", "/outcome", "/error"].compactMap { JSONPath($0) }
        format.attributeMembers = JSONPath("/attributes/*")
        format.isGatehouse = true
        return format
    }
}
