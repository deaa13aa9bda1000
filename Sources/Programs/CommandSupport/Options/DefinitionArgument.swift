// SPDX-License-Identifier: Apache-2.0

/// The argument `-Dname=value`, as the JDK and other programs read it.
package enum DefinitionArgument {
    /// Returns the arguments with each `-Dname=value` as two arguments, because the argument parser reads only this form.
    ///
    /// - Parameter arguments: The arguments of a command. Arguments after `--` are not options.
    /// - Returns: The arguments.
    package static func separated(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        return options.flatMap { $0.hasPrefix("-D") && $0 != "-D" ? ["-D", String($0.dropFirst(2))] : [$0] }
            + arguments.dropFirst(options.count)
    }
}
