// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import Prover
internal import RealmConfiguration
internal import RealmKit

/// The stacks of files whose modules need not exist in this program.
enum UnlinkedStacks {
    /// Returns the `auth` and `account` stacks of services of a pam.d folder.
    static func services(_ names: [String], in folder: String) throws -> [StackModel] {
        try stacks(names, PAMResolver { name throws(Expansion.UnreadableFile) in try file(name, in: folder) })
    }

    /// Returns the `auth` and `account` stacks of services of a pam.conf; the files that it includes are in the folder pam.d
    /// beside it.
    static func services(_ names: [String], of path: String) throws -> [StackModel] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().map(String.init)
        let includes = (parts + ["pam.d"]).joined(separator: "/")
        let conf = try Result { () throws(Expansion.UnreadableFile) in try ConfigurationFiles.system.pamFile(path) }
            .mapError { CommandError(.configuration, "\(path): \($0.reason)") }.get()
        let resolver = PAMResolver(conf: conf) { name throws(Expansion.UnreadableFile) in try file(name, in: includes) }
        return try stacks(names, resolver)
    }

    private static func file(_ name: String, in folder: String) throws(Expansion.UnreadableFile) -> SourceText {
        try ConfigurationFiles.system.pamFile(name.hasPrefix("/") ? name : "\(folder)/\(name)")
    }

    private static func stacks(_ names: [String], _ resolver: PAMResolver) throws -> [StackModel] {
        var (resolver, known): (PAMResolver, Set<String>) = (resolver, [])
        return try names.flatMap { name in
            try [PAMType.auth, .account].map { type -> StackModel in
                let parsed = resolver.stack(type, of: name)
                // The files of both types are the same, and so are the warnings about them.
                try check(parsed.diagnostics.filter { known.insert($0.rendered).inserted })
                return model(parsed.partial)
            }
        }
    }

    private static func model(_ stack: PAMStack) -> StackModel {
        let answers = PAMCode.allCases.map { code -> StackModel.Answer in
            let outcome = Outcome.all.first { PAMCode($0) == code } ?? .failure(.internalError)
            return StackModel.Answer(name: code.name, outcome: outcome)
        }
        let entries = stack.entries.map { entry -> StackModel.Entry in
            guard case .module(let module, let control) = entry.line.target else {
                return StackModel.Entry(
                    name: "substack",
                    control: "",
                    actions: answers.map { _ in .ignore },
                    level: entry.level,
                    hasModule: false
                )
            }
            let only = onlyCode(of: module)
            return StackModel.Entry(
                name: module.name,
                control: control.text,
                actions: PAMCode.allCases.map { control[$0] },
                place: entry.place,
                onlyAnswer: only.flatMap { PAMCode.allCases.firstIndex(of: $0) },
                neverSucceeds: StackModel.Entry.neverSucceeds(module.name, module.arguments),
                level: entry.level
            )
        }
        let name = "\(stack.service) \(stack.type.rawValue)\(stack.isOther ? ", which is that of other" : "")"
        let isAccount = stack.type == .account
        return StackModel(name: name, entries: entries, answers: answers, isAccount: isAccount, hasCommit: false)
    }

    /// The code of modules that always return the same one; nil for others.
    ///
    /// Only by the exact name: without `.so`, or in another folder, it is another module, or a missing one. pam_faillock is not
    /// one of them: libpam counts failures in it.
    private static func onlyCode(of module: PAMModule) -> PAMCode? {
        switch module.path {
        case "pam_permit.so": .success
        case "pam_deny.so": .authErr
        case "pam_warn.so", "pam_faildelay.so": .ignore
        default: nil
        }
    }

    /// Returns the entries of a login.conf with some names, or all of them.
    static func entries(_ names: [String], of path: String) throws -> [StackModel] {
        let bytes: [UInt8]
        switch ConfigurationFiles.system.read(path) {
        case .success(let read): bytes = read
        case .failure(let fault): throw CommandError(.configuration, "\(path): \(fault.reason)")
        }
        let parsed = LoginConf.parse(SourceText(name: path, bytes: bytes), expansion: Expansion())
        try check(parsed.diagnostics)
        let entries = parsed.partial.entries.filter { names.isEmpty || names.contains($0.name) }
        for name in names where !entries.contains(where: { $0.name == name }) {
            throw CommandError(.usage, "\(path) has no entry \(name)")
        }
        return try entries.map { entry in
            guard entry.modules.count <= LoginStack.maximumEntries else {
                throw CommandError(.configuration, "\(entry.name) has more than \(LoginStack.maximumEntries) modules")
            }
            let modules = entry.modules.map { module in
                let table = ActionTable(module.flag)
                return StackModel.Entry(
                    name: module.className,
                    control: module.control,
                    actions: Outcome.all.map { table[$0] },
                    place: parsed.partial.text.place(of: module.classRange)
                )
            }
            return StackModel(name: entry.name, entries: modules, answers: StackModel.Answer.ofEngine)
        }
    }

    private static func check(_ diagnostics: [Diagnostic]) throws {
        diagnostics.filter { $0.severity != .error }.forEach(GatehouseCommand.warn)
        let errors = diagnostics.filter { $0.severity == .error }
        guard errors.isEmpty else {
            throw CommandError(.configuration, errors.map(\.rendered).joined(separator: "\n"))
        }
    }
}
