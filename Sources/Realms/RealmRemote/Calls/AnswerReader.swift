// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import RealmKit

/// Reads the response of a service while it arrives.
final class AnswerReader: HTTPSResponseDelegate {
    private let format: AnswerFormat
    /// The body so far; nil if it is not JSON, or no path is configured.
    private var body: [UInt8]?
    /// The length of the body at which it is checked whether it can still become JSON.
    private var nextCheck = 1
    private var status = 0
    private var contentType: String?
    private var jsonFault: JSONFault?
    private(set) var result: Result<RemoteAnswer, Outage> = .failure(Outage("there is no response", kind: "none"))

    /// The reason why a service gave no usable answer.
    struct Outage: Error {
        let cause: String
        /// The kind of cause; one of a limited number.
        let kind: String
        /// True if the service may have received the password.
        let mayHaveReachedServer: Bool
        /// True if the service, or the client, has too much to do.
        let isOverload: Bool
        var isTimeout: Bool { [HTTPSClientError.Code.timedOut, .connectTimedOut].contains { $0.rawValue == kind } }

        init(_ cause: String, kind: String, mayHaveReachedServer: Bool = true, isOverload: Bool = false) {
            self.cause = cause
            self.kind = kind
            self.mayHaveReachedServer = mayHaveReachedServer
            self.isOverload = isOverload
        }
    }

    init(_ format: AnswerFormat) { self.format = format }

    func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
        status = response.status
        contentType = response["content-type"].first
        if !format.paths.isEmpty, JSONMediaType.isJSON(contentType ?? "") { body = [] }
        return .proceed
    }

    func didReceive(_ part: [UInt8]) async -> ResponseProgress {
        body?.append(contentsOf: part)
        guard let body, body.count >= nextCheck else { return .proceed }
        // The checks of all parts together read no more than twice the body.
        nextCheck = 2 * body.count
        guard case .failure(let fault) = Self.values(format.paths, in: body), fault.code != .incomplete else {
            return .proceed
        }
        jsonFault = fault
        return .stop
    }

    func didFinish() async {
        let checks = AnswerChecks(format: format, status: status, contentType: contentType)
        switch body.map({ Self.values(format.paths, in: $0) }) {
        case nil: result = checks.result(nil)
        case .success(let values)?: result = checks.result(values)
        case .failure(let fault)?: result = .failure(malformed(fault))
        }
    }

    private static func values(_ paths: [JSONPath], in body: [UInt8]) -> Result<[JSONValues], JSONFault> {
        Result { () throws(JSONFault) in try JSONValues.read(paths, in: body.span) }
    }

    func didFail(_ error: HTTPSClientError) async {
        let outage = Outage(
            error.cause,
            kind: error.code.rawValue,
            mayHaveReachedServer: error.mayHaveReachedServer,
            isOverload: error.code == .tooManyRequests
        )
        result = .failure(jsonFault.map(malformed) ?? outage)
    }

    private func malformed(_ fault: JSONFault) -> Outage {
        Outage("the body of the response with status \(status) is not valid JSON: \(fault.description)", kind: "json")
    }
}

/// The answer of a service.
enum RemoteAnswer: Sendable {
    /// The user name is nil if no path to it is configured.
    case accepted(user: Username?, groups: [String], attributes: [UserAttribute])
    case failed(LoginFailure)
}

/// The decision about a complete response.
struct AnswerChecks {
    typealias Answer = Result<RemoteAnswer, AnswerReader.Outage>

    static let maximumGroups = 1000
    /// The maximum number of attributes; further attributes are left out.
    static let maximumAttributes = 64

    let format: AnswerFormat
    let status: Int
    let contentType: String?

    /// Returns the answer to a complete response, or the reason why it cannot be used; the values are nil if the body
    /// is not JSON.
    func result(_ values: [JSONValues]?) -> Answer {
        let found = values ?? format.paths.map { _ in JSONValues() }
        let reasonStart = (format.userPath == nil ? 0 : 1) + (format.groupsPath == nil ? 0 : 1)
        let reasons = found[reasonStart..<(reasonStart + format.reasonPaths.count)]
        guard !reasons.contains(where: { $0.hasWrongType || $0.strings.count > 1 }) else {
            return unusable("the reason is not a text", kind: "reason")
        }
        let reason = reasons.compactMap(\.strings.first).first
        guard let outcome = format.outcomes.outcome(status: status, reason: reason) else {
            let text = reason == nil ? "" : " with a reason that is not in the table of outcomes"
            return unusable("the service answered \(status)\(text)", kind: "status \(status)")
        }
        switch outcome {
        case .failed(.unavailable): return unusable(unavailableText, kind: "status \(status)")
        case .failed(.overloaded):
            return .failure(AnswerReader.Outage(unavailableText, kind: "status \(status)", isOverload: true))
        case .failed(let failure): return .success(.failed(failure))
        case .accepted:
            guard format.paths.isEmpty || values != nil else {
                return unusable("the response has the type \(contentType ?? "none"), not JSON", kind: "type")
            }
            return accepted(found)
        }
    }

    private var unavailableText: String {
        guard format.isGatehouse, status == 401 || status == 403 else { return "the service answered \(status)" }
        let cause = "the token, the client certificate or the network of this program is not accepted"
        return "the service answered \(status): \(cause)"
    }

    private func accepted(_ values: [JSONValues]) -> Answer {
        var user: Username?
        if let path = format.userPath {
            guard !values[0].hasWrongType, values[0].strings.count == 1, !values[0].isIncomplete(for: path) else {
                return unusable("the response has no user name, or it is not a text", kind: "user")
            }
            do throws(BadUsername) {
                user = try Username(values[0].strings[0])
            } catch {
                return unusable("the user name in the response cannot be used: \(error)", kind: "user")
            }
        }
        var groups: [String] = []
        if let path = format.groupsPath {
            let found = values[format.userPath == nil ? 0 : 1]
            guard found.isPresent, !found.hasWrongType, !found.isIncomplete(for: path) else {
                return unusable("the response has no groups, or they are not texts", kind: "groups")
            }
            guard found.strings.count <= Self.maximumGroups, found.strings.allSatisfy(GroupName.isUsable) else {
                return unusable("the groups in the response cannot be used", kind: "groups")
            }
            groups = found.strings
        }
        return .success(.accepted(user: user, groups: groups, attributes: attributes(values)))
    }

    /// Returns the attributes; those that are not valid are left out.
    private func attributes(_ values: [JSONValues]) -> [UserAttribute] {
        let first = values.count - format.attributes.count - (format.attributeMembers == nil ? 0 : 1)
        var found: [(name: String, values: [String])] = []
        for (attribute, values) in zip(format.attributes, values.dropFirst(first)) where !values.hasWrongType {
            found.append((attribute.name, values.strings))
        }
        if format.attributeMembers != nil, let members = values.last, !members.hasWrongType {
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

    private func unusable(_ cause: String, kind: String) -> Answer { .failure(AnswerReader.Outage(cause, kind: kind)) }
}
