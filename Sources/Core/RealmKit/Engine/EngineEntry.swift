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
