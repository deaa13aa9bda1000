// SPDX-License-Identifier: Apache-2.0

/// The weight of a module in its stack, with the names that JAAS and PAM use.
///
/// For every stack of up to four modules with these flags, OpenJDK's LoginContext and Linux-PAM give the same result and
/// call the same modules in the same order. The ``ActionTable`` of a flag defines its effect on each outcome.
///
/// Source: `javax.security.auth.login.Configuration` (OpenJDK 17), pam.conf(5).
public enum ControlFlag: String, Sendable, Hashable, CaseIterable {
    /// The module must succeed; the following modules are called even if it fails.
    case required
    /// The module must succeed; a failure ends the evaluation at once.
    case requisite
    /// The module need not succeed; a success ends the evaluation at once, unless a required module has failed before.
    case sufficient
    /// The module need not succeed; the evaluation continues in either case.
    case optional
}

/// The action for every outcome of a module: the meaning of `required` and the other control flags.
public struct ActionTable: Sendable {
    private var actions: InlineArray<16, Action>

    /// Creates a table from three actions.
    public init(success: Action, ignored: Action = .ignore, failure: Action) {
        actions = InlineArray(repeating: failure)
        actions[0] = success
        actions[1] = ignored
    }

    /// Creates the table of a control flag.
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

/// The effect of a module's outcome on the decision of its stack.
///
/// Source: pam.conf(5), where each control word stands for a table of actions. The evaluation follows Linux-PAM.
public enum Action: Sendable, Hashable {
    /// Count a success, unless a failure has been counted; continue.
    case ok
    /// Count a success, and leave the stack (or sub-stack), unless a failure has been counted.
    case done
    /// Count a failure; continue.
    case bad
    /// Count a failure, and leave the stack (or sub-stack).
    case die
    /// Do not count the outcome; continue.
    case ignore
    /// Discard everything counted since the stack (or sub-stack) began; continue.
    case reset
    /// Do not count the outcome, and skip this many entries.
    case jump(UInt8)
}

extension Action: CustomStringConvertible {
    /// The action as pam.conf spells it.
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

/// The outcome of one call of a module, as an index into its ``ActionTable``.
public struct Outcome: Sendable, Hashable {
    let index: UInt8

    /// The module succeeded and has committed.
    public static let success = Outcome(index: 0)
    /// The module ignored the login.
    public static let ignored = Outcome(index: 1)
    /// Returns the outcome of a module that refused the login, failed, or exceeded its deadline.
    public static func failure(_ failure: LoginFailure) -> Outcome { Outcome(index: 2 + failure.rawValue) }

    /// All outcomes.
    package static let all = [success, ignored] + LoginFailure.allCases.map { failure($0) }

    /// The kind of failure; nil for other outcomes.
    public var failure: LoginFailure? { index < 2 ? nil : LoginFailure(rawValue: index - 2) }
}

extension Outcome: CustomStringConvertible {
    /// `success`, `ignored` or the failure's code.
    public var description: String { failure?.code ?? (index == 0 ? "success" : "ignored") }
}
