// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The control of a line of a pam.d file: an action for each return code.
///
/// `required` and the other words stand for tables, as in pam.conf(5).
public struct PAMControl: Sendable, Hashable {
    /// The control as a pam.d file has it, such as `required` or `[success=1 default=ignore]`.
    public let text: String
    private let actions: [Action]

    /// Creates the control of a word.
    public init(_ flag: ControlFlag) {
        let (good, bad): (Action, Action) =
            switch flag {
            case .required: (.ok, .bad)
            case .requisite: (.ok, .die)
            case .sufficient: (.done, .ignore)
            case .optional: (.ok, .ignore)
            }
        self.init(text: flag.rawValue) { code in
            switch code {
            case .success, .newAuthtokReqd: good
            case .ignore: .ignore
            default: bad
            }
        }
    }

    /// Creates a control with an action for each code.
    init(text: String, _ action: (PAMCode) -> Action) {
        self.text = text
        actions = PAMCode.allCases.map(action)
    }

    /// The action for a return code.
    public subscript(code: PAMCode) -> Action { actions[Int(code.rawValue)] }

    /// The table for the engine: the action for an outcome is that of the code which stands for it.
    public var table: ActionTable {
        var table = ActionTable(success: self[.success], ignored: self[.ignore], failure: .bad)
        for failure in LoginFailure.allCases { table[.failure(failure)] = self[PAMCode(.failure(failure))] }
        return table
    }
}

extension Action {
    /// The action in a table: its name, or the number of entries to skip.
    var word: String { if case .jump(let count) = self { "\(count)" } else { description } }
}

// MARK: The grammar

/// Reads the pairs of a control in brackets, as libpam does: by the beginnings of names, with or without blanks.
struct PAMControlReader {
    private static let values = PAMCode.allCases.map(\.name) + ["default"]

    private let token: PAMToken
    private var position = 0
    private var pairs: [(code: PAMCode?, action: Action, range: SourceRange)] = []
    /// Pairs without effect.
    private(set) var warnings: [PAMSyntaxError] = []

    private init(_ token: PAMToken) { self.token = token }

    /// Returns the control in a token; the warnings are about pairs that a later one replaces.
    static func read(_ token: PAMToken) throws(PAMSyntaxError) -> (PAMControl, warnings: [PAMSyntaxError]) {
        if let flag = ControlFlag.allCases.first(where: { token.isWord($0.rawValue) }) { return (PAMControl(flag), []) }
        guard token.isBracketed else { throw unknownWord(token) }
        var reader = PAMControlReader(token)
        while reader.skipBlanks() { try reader.readPair() }
        return (try reader.control(), reader.warnings)
    }

    private static func unknownWord(_ token: PAMToken) -> PAMSyntaxError {
        let words = ControlFlag.allCases.map(\.rawValue) + ["include", "substack"]
        if token.bytes.contains(.equals) {
            let hint = "put the pairs in brackets, as in [success=1 default=ignore]"
            return PAMSyntaxError("a control without brackets", at: token.range, hint: hint)
        }
        let meant = NearestName.suggest(token.string, among: words).map { "did you mean `\($0)`?" }
        let hint = meant ?? "the controls are \(words.joined(separator: ", ")), or [value=action ...]"
        return PAMSyntaxError("there is no control \(token.shown)", at: token.range, hint: hint)
    }

    /// Skips blanks; returns false at the end.
    private mutating func skipBlanks() -> Bool {
        while position < token.bytes.count, token.bytes[position].isLoginConfWhitespace { position += 1 }
        return position < token.bytes.count
    }

    private mutating func readPair() throws(PAMSyntaxError) {
        let start = position
        guard let name = Self.values.first(where: begins) else {
            throw unknown("value", among: Self.values, from: start)
        }
        position += name.utf8.count
        guard skipBlanks(), skip("=") else {
            throw error("missing `=` after `\(name)`", from: start, hint: "as in [\(name)=ignore]")
        }
        guard skipBlanks() else { throw error("missing action of `\(name)`", from: start, hint: Self.actionHint) }
        let action = try readAction()
        let range = token.range(of: start..<position)
        let code = PAMCode(name: name)
        if pairs.contains(where: { $0.code == code }) {
            guard code != nil else {
                let hint = "libpam uses the first one"
                throw PAMSyntaxError("a second `default` in this control", at: range, hint: hint)
            }
            let hint = "libpam uses the last one"
            warnings.append(PAMSyntaxError("`\(name)` occurs twice in this control", at: range, hint: hint))
        }
        pairs.append((code, action, range))
    }

    private mutating func readAction() throws(PAMSyntaxError) -> Action {
        let start = position
        if let action = OutcomeRule.actions.first(where: { skip($0.description) }) {
            let isWhole = position == token.bytes.count || !token.bytes[position].isNamePart
            if isWhole || Self.values.contains(where: begins) { return action }
            throw unknown("action", among: OutcomeRule.actions.map(\.description), from: start)
        }
        let digits = token.bytes[position...].prefix(while: \.isDigit)
        guard !digits.isEmpty else {
            throw unknown("action", among: OutcomeRule.actions.map(\.description), from: start)
        }
        position = digits.endIndex
        guard let count = UInt8(String(decoding: digits, as: UTF8.self)), count > 0 else {
            let hint = "a jump skips 1 to 255 entries; write `ignore` to skip none"
            throw error("this is not a number of entries to skip", from: start, hint: hint)
        }
        return .jump(count)
    }

    private func begins(_ word: String) -> Bool { token.bytes[position...].starts(with: word.utf8) }

    private mutating func skip(_ word: String) -> Bool {
        guard begins(word) else { return false }
        position += word.utf8.count
        return true
    }

    private func control() throws(PAMSyntaxError) -> PAMControl {
        guard !pairs.isEmpty else {
            throw PAMSyntaxError("a control without pairs", at: token.range, hint: "as in [success=ok default=die]")
        }
        let text = pairs.map { "\($0.code?.name ?? "default")=\($0.action.word)" }.joined(separator: " ")
        let rest = pairs.first { $0.code == nil }?.action ?? .bad
        // A `default` fills what is unset before it, and what comes after it replaces that: the last pair of a code wins.
        return PAMControl(text: "[\(text)]") { code in pairs.last { $0.code == code }?.action ?? rest }
    }

    // MARK: Errors

    private static let actionHint =
        "the actions are ok, done, bad, die, ignore, reset, or a number of entries to skip"

    private func error(_ message: String, from start: Int, hint: String) -> PAMSyntaxError {
        PAMSyntaxError(message, at: token.range(of: start..<max(position, start + 1)), hint: hint)
    }

    private func unknown(_ noun: String, among names: [String], from start: Int) -> PAMSyntaxError {
        let word = token.bytes[start...].prefix { $0.isNamePart }
        let range = token.range(of: start..<max(start + 1, word.endIndex))
        if token.bytes[start] == .comma {
            return PAMSyntaxError("a comma in a control", at: range, hint: "pairs are separated by blanks")
        }
        let text = String(decoding: word, as: UTF8.self)
        let all = noun == "value" ? "the values are those of pam.conf(5), in lower case, and default" : Self.actionHint
        let hint = NearestName.suggest(text, among: names).map { "did you mean `\($0)`?" } ?? all
        return PAMSyntaxError("there is no \(noun) \(PAMToken.shown(text))", at: range, hint: hint)
    }
}
