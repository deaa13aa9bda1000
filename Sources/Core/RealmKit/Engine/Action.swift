// SPDX-License-Identifier: Apache-2.0

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
