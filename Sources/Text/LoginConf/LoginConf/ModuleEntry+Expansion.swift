// SPDX-License-Identifier: Apache-2.0

extension ModuleEntry {
    /// Returns a module of a `login` block of realms.conf with its option values expanded.
    ///
    /// `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` are replaced. The other rules are those of login.conf: an
    /// undefined name is an error, a value that expands to nothing is an error, and an unclosed `${` is not changed.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - text: The text that the module was read from.
    /// - Returns: The module; the ranges of its parts stay the same.
    /// - Throws: One error for each value that cannot be expanded.
    public func expanded(by expansion: Expansion, in text: SourceText) throws(ConfigurationErrors) -> ModuleEntry {
        let expander = Expander(syntax: .jdkWithSources, expansion: expansion)
        var diagnostics: [Diagnostic] = []
        var expanded: [ModuleOption] = []
        for option in options {
            do throws(Expander.Fault) {
                let value = try expander.string(of: option.value)
                expanded.append(option.with(value: value))
            } catch {
                diagnostics.append(text.diagnostic(of: error, in: option.valueRange))
            }
        }
        if let errors = ConfigurationErrors(diagnostics) { throw errors }
        return ModuleEntry(
            className: className,
            classRange: classRange,
            flag: flag,
            outcomes: outcomes,
            flagRange: flagRange,
            options: expanded
        )
    }
}

extension ModuleOption {
    /// Returns the expanded value of an option of a `login` block as bytes.
    ///
    /// Use it for secrets: the content of a file is not converted to a `String`.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - text: The text that the option was read from.
    /// - Returns: The bytes; the content of a file may be any bytes.
    /// - Throws: An error if the value cannot be expanded.
    public func expandedBytes(by expansion: Expansion, in text: SourceText) throws(Diagnostic) -> [UInt8] {
        do throws(Expander.Fault) {
            return try Expander(syntax: .jdkWithSources, expansion: expansion).bytes(of: value)
        } catch {
            throw text.diagnostic(of: error, in: valueRange)
        }
    }

    func with(value: String) -> ModuleOption {
        ModuleOption(key: key, keyRange: keyRange, value: value, valueRange: valueRange)
    }
}
