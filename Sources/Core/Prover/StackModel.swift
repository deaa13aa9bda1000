// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// A stack as a proof sees it: for each module the answers that it can give, and what the stack does with each.
package struct StackModel: Sendable {
    /// An answer of a module: an outcome of the engine, or a return code of PAM.
    package struct Answer: Sendable, Hashable {
        /// The name in the language of the stack, such as `success` or `authinfo_unavail`.
        package let name: String
        /// The outcome that the engine's walk takes it for.
        package let outcome: Outcome

        package init(name: String, outcome: Outcome) { (self.name, self.outcome) = (name, outcome) }

        /// The outcomes of the engine.
        package static let ofEngine = Outcome.all.map { Answer(name: $0.description, outcome: $0) }
    }

    /// An entry of a stack.
    package struct Entry: Sendable {
        /// The module's name in the configuration.
        package let name: String
        /// The control flag or table in the configuration.
        package let control: String
        /// The place in the file; empty if it is not known.
        package let place: String
        /// The action for each answer.
        package fileprivate(set) var actions: [Action]
        /// The number of the only answer that the module can give; nil if it can give any.
        package let onlyAnswer: Int?
        /// True for a module that refuses or ignores each login, such as pam_nologin.
        package let neverSucceeds: Bool
        /// The depth of the sub-stack that contains the entry.
        package let level: Int
        /// False for the beginning of a sub-stack, and for a boundary.
        package let hasModule: Bool

        package init(
            name: String,
            control: String,
            actions: [Action],
            place: String = "",
            onlyAnswer: Int? = nil,
            neverSucceeds: Bool = false,
            level: Int = 0,
            hasModule: Bool = true
        ) {
            self.name = name
            self.control = control
            self.place = place
            self.actions = actions
            self.onlyAnswer = onlyAnswer
            self.neverSucceeds = neverSucceeds
            self.level = level
            self.hasModule = hasModule
        }

        /// Returns whether a module of PAM never succeeds; all its arguments are in texts.
        package static func neverSucceeds(_ name: String, _ arguments: [String]) -> Bool {
            name == "pam_nologin" && !arguments.contains { $0.contains("successok") }
        }
    }

    package let name: String
    package private(set) var entries: [Entry]
    package let answers: [Answer]
    /// The entries that decide whether a user who has been authenticated may log in, such as PAM's `account` lines.
    let accountEntries: Range<Int>
    /// True if a commit phase follows the login phase, as in JAAS and in the engine; false for PAM.
    let hasCommit: Bool
    /// The stack for the engine's walk, which reads only the levels of its entries.
    let stack: LoginStack

    /// Creates a model of a stack that is not linked, of at most ``LoginStack/maximumEntries`` entries.
    package init(name: String, entries: [Entry], answers: [Answer], isAccount: Bool = false, hasCommit: Bool = true) {
        (self.name, self.hasCommit) = (name, hasCommit)
        accountEntries = isAccount ? entries.indices : entries.endIndex..<entries.endIndex
        self.entries = entries
        self.answers = answers
        let linked = entries.map { entry -> LoginStack.Entry in
            guard entry.hasModule else { return .substack(entry.name, level: entry.level) }
            let table = ActionTable(success: .ok, failure: .bad)
            return .unlinked(entry.name, table, control: entry.control, level: entry.level)
        }
        stack = LoginStack(name: name, linked, clock: NoClock())
    }

    /// Creates the model of a stack of the engine.
    package init(_ stack: LoginStack) {
        (self.stack, hasCommit) = (stack, true)
        name = stack.name
        answers = Answer.ofEngine
        entries = stack.entries.map { entry in
            Entry(
                name: entry.name,
                control: entry.control,
                actions: Outcome.all.map { entry.table[$0] },
                place: entry.place,
                onlyAnswer: entry.onlyOutcome.flatMap { Outcome.all.firstIndex(of: $0) },
                neverSucceeds: Entry.neverSucceeds(entry.name, entry.settings),
                level: entry.level,
                hasModule: entry.hasModule
            )
        }
        let boundary = entries.firstIndex { $0.level < 0 }
        accountEntries = (boundary ?? entries.endIndex)..<entries.endIndex
    }

    /// The name of an entry in lists: that of its module, and `NAME#2` for the second entry of a name.
    package func name(of entry: Int) -> String { stack.answerName(of: entry) }

    /// The number of an answer by its outcome.
    func answer(_ outcome: Outcome) -> Int { answers.firstIndex { $0.outcome == outcome } ?? 0 }

    /// The model with one entry whose answers all count as ignored.
    func ignoring(entry index: Int) -> StackModel {
        replacing(entry: index, actions: answers.map { _ in .ignore })
    }

    /// The model with an entry that ends the login on one answer.
    func refusing(_ answer: Int, of index: Int) -> StackModel {
        var actions = entries[index].actions
        actions[answer] = .die
        return replacing(entry: index, actions: actions)
    }

    private func replacing(entry index: Int, actions: [Action]) -> StackModel {
        var model = self
        model.entries[index].actions = actions
        return model
    }
}

/// The clock of stacks that no login uses.
struct NoClock: LoginClock {
    var now: UInt64 { 0 }
    func sleep(until deadline: UInt64) async throws(CancellationError) {}
}
