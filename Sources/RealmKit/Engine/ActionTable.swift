// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What came of asking one module, as one index into its ``ActionTable``.
public struct Outcome: Sendable, Hashable {
    let index: UInt8

    /// The module said yes, and had committed.
    public static let success = Outcome(index: 0)
    /// The module had nothing to say.
    public static let ignored = Outcome(index: 1)
    /// The module said no, broke, or ran out of time.
    ///
    /// - Parameter failure: Why.
    /// - Returns: The outcome.
    public static func failure(_ failure: LoginFailure) -> Outcome { Outcome(index: 2 + failure.rawValue) }

    /// How many there are.
    static let count = 2 + LoginFailure.allCases.count

    /// Why the module failed; nil if it did not.
    public var failure: LoginFailure? { index < 2 ? nil : LoginFailure(rawValue: index - 2) }
}

extension Outcome: CustomStringConvertible {
    /// `success`, `ignored` or the failure's code.
    public var description: String {
        failure?.code ?? (index == 0 ? "success" : "ignored")
    }
}

/// What the stack does with an outcome.
///
/// Source: pam.conf(5), where control words are short for such tables; the walk is that of Linux-PAM.
public enum Action: Sendable, Hashable {
    /// Count it as a yes, unless there has been a no; go on.
    case ok
    /// Count it as a yes, and leave the stack (or sub-stack) unless there has been a no.
    case done
    /// Count it as a no; go on.
    case bad
    /// Count it as a no, and leave the stack (or sub-stack).
    case die
    /// Do not count it; go on.
    case ignore
    /// Forget everything counted since the stack (or sub-stack) began; go on.
    case reset
    /// Do not count it, and pass over this many entries.
    case jump(UInt8)
}

extension Action: CustomStringConvertible {
    /// As pam.conf spells it.
    public var description: String {
        switch self {
        case .ok: "ok"
        case .done: "done"
        case .bad: "bad"
        case .die: "die"
        case .ignore: "ignore"
        case .reset: "reset"
        case .jump(let count): "jump \(count)"
        }
    }
}

/// An action for every outcome: what `required` and the other control words mean.
public struct ActionTable: Sendable {
    private var actions: InlineArray<16, Action>

    /// A table of three columns.
    ///
    /// - Parameters:
    ///   - success: What to do when the module said yes.
    ///   - ignored: What to do when it had nothing to say.
    ///   - failure: What to do in every other case.
    public init(success: Action, ignored: Action = .ignore, failure: Action) {
        actions = InlineArray(repeating: failure)
        actions[0] = success
        actions[1] = ignored
    }

    /// The table a control word stands for.
    ///
    /// - Parameter flag: The control word.
    public init(_ flag: ControlFlag) {
        switch flag {
        case .required: self.init(success: .ok, failure: .bad)
        case .requisite: self.init(success: .ok, failure: .die)
        case .sufficient: self.init(success: .done, failure: .ignore)
        case .optional: self.init(success: .ok, failure: .ignore)
        }
    }

    /// The action for an outcome.
    public subscript(outcome: Outcome) -> Action {
        get { actions[Int(outcome.index)] }
        set { actions[Int(outcome.index)] = newValue }
    }
}
