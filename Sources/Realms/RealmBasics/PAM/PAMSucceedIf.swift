// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmKit

/// Succeeds if all conditions about the login hold: pam_succeed_if(8) without what only users of the system have.
struct PAMSucceedIf: LoginModule {
    static let moduleNames = ["pam_succeed_if"]
    static let options = PAMArguments.options

    private enum Subject: String { case user, service, rhost }

    private enum Test {
        case equals, matches, isIn, isInGroup

        init?(_ word: String) {
            switch word {
            case "=": self = .equals
            case "=~": self = .matches
            case "in": self = .isIn
            case "ingroup": self = .isInGroup
            default: return nil
            }
        }
    }

    private struct Condition {
        let subject: Subject
        let test: Test
        let isNegated: Bool
        let value: String
    }

    private let realm: any Realm
    private let service: String
    private let conditions: [Condition]

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        let quiet: Set = ["debug", "quiet", "quiet_fail", "quiet_success", "audit"]
        let arguments = try PAMArguments(options)
        let words = arguments.list.filter { !quiet.contains($0) }
        guard !words.contains("use_uid") else {
            throw BadModule("cannot have use_uid here: the account of this program is not that of the user")
        }
        guard !words.isEmpty, words.count % 3 == 0 else {
            throw BadModule("takes conditions of three words, as in: user ingroup staff")
        }
        (self.realm, service) = (realm, arguments.service)
        var conditions: [Condition] = []
        for start in stride(from: 0, to: words.count, by: 3) {
            conditions.append(try Self.condition(words[start], words[start + 1], words[start + 2]))
        }
        self.conditions = conditions
    }

    private static func condition(_ left: String, _ word: String, _ value: String) throws(BadModule) -> Condition {
        guard let subject = Subject(rawValue: left) else {
            throw BadModule("knows no \(left) here, only user, service and rhost")
        }
        let negations = ["!=": "=", "!~": "=~", "notin": "in", "notingroup": "ingroup"]
        guard let test = Test(negations[word] ?? word), test != .isInGroup || subject == .user else {
            let known = "=, !=, =~, !~, in, notin, and for a user ingroup and notingroup"
            throw BadModule("cannot compare \(left) by \(word) here, only by \(known)")
        }
        return Condition(subject: subject, test: test, isNegated: negations[word] != nil, value: value)
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        for condition in conditions where try await holds(condition, for: attempt) == condition.isNegated {
            return .failed(.wrongCredentials)
        }
        return attempt.commit(only: [])
    }

    private func holds(_ condition: Condition, for attempt: LoginAttempt) async throws(LoginFault) -> Bool {
        let text =
            switch condition.subject {
            case .user: attempt.establishedName.text
            case .service: service
            case .rhost: attempt.peer ?? ""
            }
        let values = condition.value.split(separator: ":")
        switch condition.test {
        case .equals: return text.utf8.elementsEqual(condition.value.utf8)
        case .matches: return unsafe fnmatch(condition.value, text, 0) == 0
        case .isIn: return values.contains { $0.utf8.elementsEqual(text.utf8) }
        case .isInGroup:
            do throws(RealmError) {
                let groups = try await realm.groupNames(of: attempt.establishedName)
                return groups.contains { group in values.contains { $0.utf8.elementsEqual(group.utf8) } }
            } catch {
                // A user without groups is in none; otherwise the condition cannot be decided.
                guard error.code == .noSuchUser else { throw .internalError("pam_succeed_if: \(error)") }
                return false
            }
        }
    }
}
