// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// An entry as the engine uses it: fetching it from the stack costs one reference count, whatever it holds.
final class LinkedEntry: Sendable {
    let entry: LoginStack.Entry
    let table: ActionTable
    let level: Int
    // Calls a module that never waits. A closure, so that the module need not be copied out of its box for each call.
    private let immediate: (@Sendable (ModuleCall, LoginRecord) -> ModuleAnswer)?

    /// What can be said of a call without waiting.
    enum Result {
        case answered(ModuleAnswer)
        case nothingToDo
        case mustWait
    }

    init(_ entry: LoginStack.Entry) {
        self.entry = entry
        table = entry.table
        level = entry.level
        if case .immediate(let module) = entry.kind { immediate = Self.caller(of: module) } else { immediate = nil }
    }

    var name: String { entry.name }
    var control: String { entry.control }

    @inline(__always)
    func perform(_ call: ModuleCall, _ record: LoginRecord) -> Result {
        if let immediate { return .answered(immediate(call, record)) }
        switch entry.kind {
        case .broken(let fault): return .answered(ModuleAnswer(fault))
        case .marker: return .nothingToDo
        case .immediate, .waiting: return .mustWait
        }
    }

    private static func caller(
        of module: some ImmediateLoginModule
    ) -> @Sendable (ModuleCall, LoginRecord) -> ModuleAnswer {
        { call, record in call.perform(on: module, record) }
    }
}
