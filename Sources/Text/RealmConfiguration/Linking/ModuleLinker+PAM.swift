// SPDX-License-Identifier: Apache-2.0

internal import Files
package import LoginConf
internal import RealmKit

/// Reads services of PAM, and links their stacks.
extension ConfigurationBuilder {
    /// Returns the stacks of a service for `auth` and `account`; reports all errors of its files.
    ///
    /// Included files, and `other`, are in the same folder.
    func pamStacks(_ path: String, named word: RealmsConfWord) -> [PAMStack]? {
        guard contents(of: path, at: word.range) != nil else { return nil }
        var resolver = PAMResolver { name throws(Expansion.UnreadableFile) in
            let file = RelativePath.resolve(name, beside: path)
            let source = try loader.files.pamFile(file)
            // Who may write these files decides who is let in.
            note(file, as: .users, at: word.range, in: text)
            return source
        }
        let service = path.split(separator: "/").last.map(String.init) ?? path
        var stacks: [PAMStack] = []
        for type in [PAMType.auth, .account] {
            let parsed = resolver.stack(type, of: service)
            log.add(parsed.diagnostics)
            guard let stack = parsed.value else { continue }
            if !stack.entries.isEmpty {
                stacks.append(stack)
            } else {
                let hint = "as in: \(type) required pam_permit.so"
                error(at: word.range, "\(path) has no \(type) lines, so every login would be refused", hint: hint)
            }
        }
        return stacks.count == 2 ? stacks : nil
    }
}

extension ConfigurationFiles {
    /// Returns the text of a file of PAM.
    package func pamFile(_ path: String) throws(Expansion.UnreadableFile) -> SourceText {
        SourceText(name: path, bytes: try read(path).get(), names: PAMFile.names)
    }
}

extension PAMStack {
    /// The modules with their controls, in order.
    var modules: [(name: String, control: PAMControl)] {
        entries.compactMap { entry in
            guard case .module(let module, let control) = entry.line.target else { return nil }
            return (module.name, control)
        }
    }
}

extension ModuleLinker {
    /// What differs from PAM, for modules whose work the server does.
    private static let notes = [
        "pam_faillock": "the server counts failed logins itself, by the throttle settings, and locks before the stack",
        "pam_faildelay": "the server delays the answer to a failed login itself",
    ]

    /// Links the `auth` lines of a service, which must grant, and its `account` lines, which must grant then.
    func pamStack(_ entry: LoginContextTable.Entry) -> LoginStack? {
        let parts = entry.pam.map { stack in stack.entries.indices.map { link($0, in: stack, of: entry) } }
        let entries = parts[0] + [.boundary("account")] + parts[1]
        guard entries.count <= LoginStack.maximumEntries else {
            let message = "a login context must not have more than \(LoginStack.maximumEntries) modules"
            builder.log.add(entry.text.error(at: entry.nameRange, message))
            return nil
        }
        let linked = entries.compactMap(\.self)
        return linked.count == entries.count
            ? LoginStack(name: entry.name, linked, clock: builder.loader.clock) : nil
    }

    private func link(_ index: Int, in stack: PAMStack, of context: LoginContextTable.Entry) -> LoginStack.Entry? {
        let entry = stack.entries[index]
        if case .substack(let name) = entry.line.target { return .substack(name, level: entry.level) }
        guard case .module(let module, let control) = entry.line.target, let written = entry.line.moduleEntry,
            hasTargets(control, of: index, in: stack), let kind = kind(of: module, written: written, at: entry)
        else { return nil }
        if let note = Self.notes[module.name] {
            let message = "\(module.name) has no effect here"
            builder.log.add(entry.text.warning(at: written.classRange, message, hint: note))
        }
        let source = LoginContextTable.Entry(
            name: context.name,
            nameRange: context.nameRange,
            modules: [written],
            text: entry.text,
            isInline: true
        )
        let arguments = PAMArguments(module.arguments, isAccount: stack.type == .account, service: stack.service)
        let values = kind.isOfPAM ? arguments.values : values(of: written, kind: kind, in: source)
        let (table, text, level) = (control.table, control.text, entry.level)
        return link(written, kind: kind, values: values, table: table, control: text, level: level, in: source)
    }

    private func report(_ message: String, at entry: PAMStack.Entry, hint: String? = nil) {
        builder.log.add(entry.text.error(at: entry.line.targetRange, message, hint: hint, showing: .always))
    }

    /// Reports a jump that leads behind the end of the stack or sub-stack, where libpam refuses the login.
    private func hasTargets(_ control: PAMControl, of index: Int, in stack: PAMStack) -> Bool {
        let entries = stack.entries
        let level = entries[index].level
        // A sub-stack and its entries count as one.
        let following = entries[(index + 1)...].prefix { $0.level >= level }.count { $0.level == level }
        for code in PAMCode.allCases {
            guard case .jump(let count) = control[code], count > following else { continue }
            let hint = "\(following) entries follow in this stack or sub-stack"
            let message = "\(code.name)=\(count) jumps behind the end, where PAM refuses the login"
            builder.log.add(entries[index].text.error(at: entries[index].line.controlRange, message, hint: hint))
            return false
        }
        return true
    }

    private func kind(of module: PAMModule, written: ModuleEntry, at entry: PAMStack.Entry) -> ModuleKind? {
        let kinds = builder.loader.kinds.flatMap(\.modules).filter { $0.isOfPAM == module.isOfPAM }
        if module.isOfPAM, !module.path.hasSuffix("\(module.name).so") {
            report("PAM has no module \(module.path)", at: entry, hint: "write \(module.name).so")
            return nil
        }
        guard let kind = kinds.first(where: { $0.names.contains(written.className) }) else {
            let known = kinds.flatMap(\.names).filter { !$0.contains(".") }.sorted().joined(separator: ", ")
            let hint =
                module.isOfPAM
                ? "these run here: \(known); write the module of the realm, such as FileLoginModule, or PAMLoginModule in a "
                    + "realm whose service of PAM has this module (docs/pam.md)"
                : ConfigurationBuilder.hint(className: module.path, among: kinds.flatMap(\.names))
            report("\(written.className) cannot be run alone", at: entry, hint: hint)
            return nil
        }
        if let hint = kind.buildHint {
            report("\(module.path) is not built into this program", at: entry, hint: hint)
            return nil
        }
        return kind
    }
}
