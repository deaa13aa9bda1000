// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// An entry of a stack in the form that the engine uses.
///
/// It is a class, so that reading an entry from an array changes only one reference count.
final class EngineEntry: Sendable {
    let entry: LoginStack.Entry
    let table: ActionTable
    let level: Int
    // Calls the module if it is immediate. It is a closure, so that the module is not copied for each call.
    private let immediate: (@Sendable (ModuleCall, LoginRecord) -> ModuleAnswer)?

    /// The result of a call without waiting.
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
    func perform(_ call: ModuleCall, record: LoginRecord) -> Result {
        if let immediate { return .answered(immediate(call, record)) }
        switch entry.kind {
        case .broken(let fault): return .answered(ModuleAnswer(fault))
        case .substack: return .nothingToDo
        case .immediate, .waiting: return .mustWait
        }
    }

    private static func caller(
        of module: some ImmediateLoginModule
    ) -> @Sendable (ModuleCall, LoginRecord) -> ModuleAnswer {
        { call, record in call.perform(on: module, record: record) }
    }
}
