// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import RealmKit

/// The paths in the body of a response, and the table of outcomes.
struct AnswerFormat: Sendable {
    var userPath: JSONPath?
    var groupsPath: JSONPath?
    /// The paths to the reason; the first one with a value counts.
    var reasonPaths: [JSONPath] = []
    var attributes: [(name: String, path: JSONPath)] = []
    /// The path to the members of an object of attributes.
    var attributeMembers: JSONPath?
    var outcomes: OutcomeTable
    /// True if 401 and 403 mean that this program is not allowed to check passwords.
    var isGatehouse = false

    private var paths: [JSONPath] {
        [userPath, groupsPath, attributeMembers].compactMap(\.self) + reasonPaths + attributes.map(\.path)
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

extension AnswerFormat {
    static let maximumGroups = 1000
    /// The maximum number of attributes; further attributes are left out.
    static let maximumAttributes = 64

    /// Returns the answer in a response; throws if it cannot be used.
    func answer(_ response: HTTPSResponse) throws(RemoteOutage) -> RemoteAnswer {
        let status = response.status
        let contentType = response["content-type"].first ?? "none"
        let isJSON = !paths.isEmpty && JSONMediaType.isJSON(contentType)
        var found: [JSONPath: JSONValues] = [:]
        if isJSON {
            let values = try Result { () throws(JSONFault) in try JSONValues.read(paths, in: response.body.span) }
                .mapError { fault in
                    let cause = "the body of the response with status \(status) is not valid JSON: \(fault.description)"
                    return RemoteOutage(cause, kind: "json")
                }.get()
            for (path, values) in zip(paths, values) { found[path] = values }
        }
        let reasons = reasonPaths.compactMap { found[$0] }
        guard !reasons.contains(where: { $0.hasWrongType || $0.strings.count > 1 }) else {
            throw RemoteOutage("the reason is not a text", kind: "reason")
        }
        let reason = reasons.compactMap(\.strings.first).first
        switch outcomes.outcome(status: status, reason: reason) {
        case nil:
            let text = reason == nil ? "" : " with a reason that is not in the table of outcomes"
            throw RemoteOutage("the service answered \(status)\(text)", kind: "status \(status)")
        case .failed(.unavailable)?: throw unavailable(status)
        case .failed(.overloaded)?: throw unavailable(status, isOverload: true)
        case .failed(let failure)?: return .failed(failure)
        case .accepted?:
            guard paths.isEmpty || isJSON else {
                throw RemoteOutage("the response has the type \(contentType), not JSON", kind: "type")
            }
            return .accepted(
                user: try username(found),
                groups: try groupNames(found),
                attributes: userAttributes(found)
            )
        }
    }

    private func unavailable(_ status: Int, isOverload: Bool = false) -> RemoteOutage {
        var cause = "the service answered \(status)"
        if isGatehouse, status == 401 || status == 403 {
            cause += ": the token, the client certificate or the network of this program is not accepted"
        }
        return RemoteOutage(cause, kind: "status \(status)", isOverload: isOverload)
    }

    private func username(_ found: [JSONPath: JSONValues]) throws(RemoteOutage) -> Username? {
        guard let path = userPath else { return nil }
        guard let name = found[path], !name.hasWrongType, name.strings.count == 1, !name.isIncomplete(for: path) else {
            throw RemoteOutage("the response has no user name, or it is not a text", kind: "user")
        }
        return try Result { () throws(BadUsername) in try Username(name.strings[0]) }
            .mapError { RemoteOutage("the user name in the response cannot be used: \($0)", kind: "user") }.get()
    }

    private func groupNames(_ found: [JSONPath: JSONValues]) throws(RemoteOutage) -> [String] {
        guard let path = groupsPath else { return [] }
        guard let groups = found[path], groups.isPresent, !groups.hasWrongType, !groups.isIncomplete(for: path) else {
            throw RemoteOutage("the response has no groups, or they are not texts", kind: "groups")
        }
        guard groups.strings.count <= Self.maximumGroups, groups.strings.allSatisfy(GroupName.isUsable) else {
            throw RemoteOutage("the groups in the response cannot be used", kind: "groups")
        }
        return groups.strings
    }

    /// Returns the attributes; those that are not valid are left out.
    private func userAttributes(_ values: [JSONPath: JSONValues]) -> [UserAttribute] {
        var found: [(name: String, values: [String])] = []
        for (name, path) in attributes {
            if let values = values[path], !values.hasWrongType { found.append((name, values.strings)) }
        }
        if let members = attributeMembers.flatMap({ values[$0] }), !members.hasWrongType {
            for (name, value) in zip(members.names, members.strings) {
                guard let name else { continue }
                // The values of a member follow each other.
                if let last = found.last, last.name.hasBytes(of: name.string) {
                    found[found.count - 1].values.append(value)
                } else {
                    found.append((name.string, [value]))
                }
            }
        }
        return found.prefix(Self.maximumAttributes).compactMap { attribute in
            try? UserAttribute(name: attribute.name, values: attribute.values)
        }
    }
}

/// The answer of a service.
enum RemoteAnswer: Sendable {
    /// The user name is nil if no path to it is configured.
    case accepted(user: Username?, groups: [String], attributes: [UserAttribute])
    case failed(LoginFailure)
}

/// The reason why a service gave no usable answer.
struct RemoteOutage: Error {
    let cause: String
    /// The kind of cause; one of a limited number.
    let kind: String
    /// True if the service may have received the password.
    var mayHaveReachedServer = true
    /// True if the service, or the client, has too much to do.
    var isOverload = false
    var isTimeout = false

    init(_ cause: String, kind: String, isOverload: Bool = false) {
        (self.cause, self.kind, self.isOverload) = (cause, kind, isOverload)
    }

    init(_ error: HTTPSClientError) {
        self.init(error.cause, kind: error.code.rawValue, isOverload: error.code == .tooManyRequests)
        mayHaveReachedServer = error.mayHaveReachedServer
        isTimeout = error.code == .timedOut || error.code == .connectTimedOut
    }
}
