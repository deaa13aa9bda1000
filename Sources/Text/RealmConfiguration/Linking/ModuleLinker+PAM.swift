// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
package import LoginConf
internal import RealmKit

/// Reads services of PAM, and links their stacks.
extension ConfigurationBuilder {
    /// Returns the stacks of a service for `auth` and `account`; reports all errors of its files.
    ///
    /// Included files, and `other`, are in the same folder.
    func pamStacks(_ path: String, named word: RealmsConfWord) -> [PAMStack]? {
        guard contents(of: path, at: word.range) != nil else { return nil }
        var resolver = PAMResolver { name throws(PAMResolver.UnreadableFile) in
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
    package func pamFile(_ path: String) throws(PAMResolver.UnreadableFile) -> SourceText {
        do throws(Expansion.UnreadableFile) {
            return SourceText(name: path, bytes: try read(path).get(), names: PAMFile.names)
        } catch {
            let isMissing = error.reason.utf8.elementsEqual("\(SystemError(number: ENOENT))".utf8)
            throw PAMResolver.UnreadableFile(error.reason, isMissing: isMissing)
        }
    }
}

extension PAMStack {
    /// The modules with their controls, in order.
    var modules: [(name: String, control: PAMControl)] {
        entries.compactMap { entry in
            guard case .module(let module) = entry.kind, let control = entry.control else { return nil }
            return (module.name, control)
        }
    }
}

extension ModuleKind {
    /// True for a module with a name of PAM, which only the files of PAM can name.
    var isOfPAM: Bool { names.allSatisfy { $0.hasPrefix("pam_") } }
}

extension ModuleLinker {
    /// The option with the arguments of a module of PAM.
    static let pamArguments = "arguments"
    /// The option with the type of the line, for modules of PAM that need it.
    private static let pamType = "type"
    /// The option with the service of the file, which modules of PAM compare.
    private static let pamService = "service"

    /// What differs from PAM, for modules whose work the server does.
    private static let notes = [
        "pam_faillock": "the server counts failed logins itself, by the throttle settings, and locks before the stack",
        "pam_faildelay": "the server delays the answer to a failed login itself",
    ]

    /// Links the `auth` lines of a service, which must grant, and its `account` lines, which must grant then.
    func pamStack(_ entry: LoginContextTable.Entry) -> LoginStack? {
        let parts = entry.pam.map { stack in stack.entries.indices.map { link($0, in: stack) } }
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

    private func link(_ index: Int, in stack: PAMStack) -> LoginStack.Entry? {
        let entry = stack.entries[index]
        switch entry.kind {
        case .substack(let name): return .substack(name, level: entry.level)
        case .module(let module):
            guard let control = entry.control, hasTargets(control, of: index, in: stack),
                let kind = kind(of: module, at: entry),
                let values = values(of: module, kind: kind, at: entry, in: stack)
            else { return nil }
            if let note = Self.notes[module.name] {
                builder.log.add(entry.text.warning(at: entry.range, "\(module.name) has no effect here", hint: note))
            }
            do throws(BadModule) {
                let options = try ModuleOptions(values, schema: kind.options, realmName: realmName, services: services)
                let made = try kind.makeModule(realm: realm, options: options)
                let (name, level) = (module.isOfPAM ? module.name : module.path, entry.level)
                var linked = LoginStack.Entry(made, control.table, control: control.text, name: name, level: level)
                linked.settings = values.configurationTexts
                linked.place = entry.place
                return linked
            } catch {
                report("\(module.name) for realm \(realmName): \(error)", at: entry)
                return nil
            }
        }
    }

    private func report(_ message: String, at entry: PAMStack.Entry, hint: String? = nil) {
        builder.log.add(entry.text.error(at: entry.range, message, hint: hint, showing: .always))
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
            builder.log.add(entries[index].text.error(at: entries[index].controlRange, message, hint: hint))
            return false
        }
        return true
    }

    private func kind(of module: PAMModule, at entry: PAMStack.Entry) -> ModuleKind? {
        let kinds = builder.loader.kinds.flatMap(\.modules).filter { $0.isOfPAM == module.isOfPAM }
        if module.isOfPAM, !module.path.hasSuffix("\(module.name).so") {
            report("PAM has no module \(module.path)", at: entry, hint: "write \(module.name).so")
            return nil
        }
        guard let kind = kinds.first(where: { $0.names.contains(module.isOfPAM ? module.name : module.path) }) else {
            let known = kinds.flatMap(\.names).filter { !$0.contains(".") }.sorted().joined(separator: ", ")
            let hint =
                module.isOfPAM
                ? "these run here: \(known); write the module of the realm, such as FileLoginModule, or PAMLoginModule in a "
                    + "realm whose service of PAM has this module (docs/pam.md)"
                : ConfigurationBuilder.hint(className: module.path, among: kinds.flatMap(\.names))
            report("\(module.isOfPAM ? module.name : module.path) cannot be run alone", at: entry, hint: hint)
            return nil
        }
        if let hint = kind.buildHint {
            report("\(module.path) is not built into this program", at: entry, hint: hint)
            return nil
        }
        return kind
    }

    /// Returns the options of a module: all arguments of a module of PAM, and `name=value` for others.
    private func values(
        of module: PAMModule,
        kind: ModuleKind,
        at entry: PAMStack.Entry,
        in stack: PAMStack
    ) -> [String: PropertyValue]? {
        if kind.isOfPAM {
            var values = [Self.pamArguments: PropertyValue.list(module.arguments)]
            if kind.options[Self.pamType] != nil { values[Self.pamType] = .string(entry.type.rawValue) }
            if kind.options[Self.pamService] != nil { values[Self.pamService] = .string(stack.service) }
            return values
        }
        var values: [String: PropertyValue] = [:]
        for argument in module.arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let property = kind.options[parts[0]] else {
                let hint = ConfigurationBuilder.hint(parts[0], among: kind.options.properties.map(\.name))
                report("\(module.path) has no option of this name", at: entry, hint: hint)
                return nil
            }
            do throws(BadValue) {
                let text = parts.count > 1 ? parts[1] : "true"
                let words = property.kind == .list ? text.split(separator: ",").map(String.init) : [text]
                let value = try PropertyValue(words, as: property.kind)
                values[property.name] = builder.resolved(value, of: property, at: entry.range, in: entry.text)
            } catch {
                report("\(module.path): \(property.name) \(error)", at: entry)
                return nil
            }
        }
        return values
    }
}

extension PAMModule {
    /// True for a name of PAM, such as `pam_unix`, and false for a class of Gatehouse.
    fileprivate var isOfPAM: Bool { name.hasPrefix("pam_") }
}
