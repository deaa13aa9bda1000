// SPDX-License-Identifier: Apache-2.0

/// An entry of a stack in the form that the engine uses: a reference, so that reading it from an array changes only one
/// reference count.
protocol EngineEntry: AnyObject, Sendable {
    var entry: LoginStack.Entry { get }

    /// Calls the module if it is immediate; returns nil if the caller has to wait for the module.
    func answer(to call: ModuleCall, record: LoginRecord) -> ModuleAnswer?
}

extension LoginStack.Entry {
    func engineEntry() -> any EngineEntry {
        switch kind {
        case .immediate(let module): immediateEntry(module)
        case .waiting, .broken, .substack: OtherEntry(self)
        }
    }

    private func immediateEntry(_ module: some ImmediateLoginModule) -> any EngineEntry {
        ImmediateEntry(self, module: module)
    }
}

/// The entry of a module that never waits: generic, so that a call neither copies the module nor unpacks an existential.
private final class ImmediateEntry<Module: ImmediateLoginModule>: EngineEntry {
    let entry: LoginStack.Entry
    private let module: Module

    init(_ entry: LoginStack.Entry, module: Module) {
        self.entry = entry
        self.module = module
    }

    func answer(to call: ModuleCall, record: LoginRecord) -> ModuleAnswer? { call.perform(on: module, record: record) }
}

/// The entry of a module that may wait, of a module that could not be created, or of the beginning of a sub-stack.
private final class OtherEntry: EngineEntry {
    let entry: LoginStack.Entry

    init(_ entry: LoginStack.Entry) { self.entry = entry }

    func answer(to call: ModuleCall, record: LoginRecord) -> ModuleAnswer? {
        if case .broken(let fault) = entry.kind { ModuleAnswer(fault) } else { nil }
    }
}

/// The part of an entry that decides how the outcome of its module counts, without references, so that reading it changes
/// no reference count.
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

    /// Returns the action in the commit or logout phase, where a module that had nothing to do is never counted.
    func actionAfterLogin(_ outcome: Outcome) -> Action {
        outcome == .ignored ? .ignore : table[outcome].countingJumpAsSuccess
    }
}
