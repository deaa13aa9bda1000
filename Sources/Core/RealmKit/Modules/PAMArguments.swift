// SPDX-License-Identifier: Apache-2.0

/// The arguments of a module with a name of PAM, and what it has to know of its line.
///
/// The linker of pam.d files writes them into options, from which the module reads them.
package struct PAMArguments: Sendable {
    private static let (arguments, type, service) = ("arguments", "type", "service")
    /// The options of all such modules.
    package static let options: PropertySchema = [
        Property(arguments, .list, default: ""), .string(type, default: "auth"), .string(service, default: ""),
    ]

    package let list: [String]
    package let isAccount: Bool
    /// The service of the file.
    package let service: String

    package init(_ list: [String], isAccount: Bool, service: String) {
        (self.list, self.isAccount, self.service) = (list, isAccount, service)
    }

    package init(_ options: ModuleOptions) throws(BadModule) {
        list = try options.list(Self.arguments)
        isAccount = try options.string(Self.type) == "account"
        service = try options.string(Self.service)
    }

    /// The values of ``options``.
    package var values: [String: PropertyValue] {
        [
            Self.arguments: .list(list), Self.type: .string(isAccount ? "account" : "auth"),
            Self.service: .string(service),
        ]
    }

    /// Returns the values of arguments `name=value`; throws for other arguments, but for the named ones.
    package func values(_ names: Set<String>, flags: Set<String> = []) throws(BadModule) -> [String: String] {
        var values: [String: String] = [:]
        for argument in list {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 1, flags.contains(argument) {
                values[argument] = ""
            } else if parts.count == 2, names.contains(parts[0]) {
                values[parts[0]] = parts[1]
            } else {
                // The argument is not shown: it may be a password that is meant for another line.
                let known = names.sorted().map { "\($0)=" } + flags.sorted()
                throw BadModule("knows only the arguments \(known.joined(separator: ", ")) here")
            }
        }
        return values
    }
}

extension ModuleKind {
    /// True for a module with a name of PAM, which only the files of PAM can name.
    package var isOfPAM: Bool { names.allSatisfy { $0.hasPrefix("pam_") } }
}
