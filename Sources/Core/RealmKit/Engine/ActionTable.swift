// SPDX-License-Identifier: Apache-2.0

/// The action for every outcome of a module: the meaning of `required` and the other control flags.
public struct ActionTable: Sendable {
    private var actions: InlineArray<16, Action>

    /// Creates a table from three actions.
    ///
    /// - Parameters:
    ///   - success: The action for a success.
    ///   - ignored: The action for a module that ignores the login.
    ///   - failure: The action for every failure.
    public init(success: Action, ignored: Action = .ignore, failure: Action) {
        actions = InlineArray(repeating: failure)
        actions[0] = success
        actions[1] = ignored
    }

    /// Creates the table of a control flag.
    ///
    /// - Parameter flag: The control flag.
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
