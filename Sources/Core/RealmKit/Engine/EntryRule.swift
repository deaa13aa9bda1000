// SPDX-License-Identifier: Apache-2.0

/// The part of an entry that decides how the outcome of its module counts.
///
/// It contains no references, so that reading it changes no reference count.
struct EntryRule: Sendable {
    let table: ActionTable
    /// The depth of the sub-stack that contains the entry; 0 for the stack itself.
    let level: Int
    /// True if the entry begins a sub-stack and has no module.
    let isSubstack: Bool

    init(_ entry: LoginStack.Entry) {
        table = entry.table
        level = entry.level
        if case .substack = entry.kind { isSubstack = true } else { isSubstack = false }
    }

    /// Returns the action for an outcome in the commit or logout phase.
    ///
    /// A module that had nothing to do is not counted, even if its table counts an ignored login.
    func actionAfterLogin(_ outcome: Outcome) -> Action {
        outcome == .ignored ? .ignore : table[outcome].countingJumpAsSuccess
    }
}
