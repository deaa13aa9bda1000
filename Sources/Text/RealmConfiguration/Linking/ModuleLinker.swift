// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf
internal import RealmKit

/// Links a login context for one realm: finds its modules, checks their options and creates them.
struct ModuleLinker {
    let builder: ConfigurationBuilder
    let realm: any Realm
    let realmName: String
    let services: RealmServices

    private typealias Entry = LoginContextTable.Entry

    /// The option `deadline`, which every module has: the longest time for one call of the module.
    static let deadline = Property("deadline", .duration)

    func stack(_ entry: LoginContextTable.Entry) -> LoginStack? {
        if !entry.pam.isEmpty { return pamStack(entry) }
        guard entry.modules.count <= LoginStack.maximumEntries else {
            let message = "a login context must not have more than \(LoginStack.maximumEntries) modules"
            builder.log.add(entry.text.error(at: entry.nameRange, message))
            return nil
        }
        reportJumps(in: entry)
        let entries = entry.modules.compactMap { link($0, in: entry) }
        guard entries.count == entry.modules.count else { return nil }
        return LoginStack(name: entry.name, entries, clock: builder.loader.clock)
    }

    private func link(_ module: ModuleEntry, in entry: Entry) -> LoginStack.Entry? {
        let kinds = builder.loader.kinds.flatMap(\.modules).filter { !$0.isOfPAM }
        guard let kind = kinds.first(where: { $0.names.contains(module.className) }) else {
            let hint = ConfigurationBuilder.hint(className: module.className, among: kinds.flatMap(\.names))
            // Nothing but a class can stand before a control flag.
            let message = "there is no login module \(module.className)"
            builder.log.add(entry.text.error(at: module.classRange, message, hint: hint, showing: .always))
            return nil
        }
        if let hint = kind.buildHint {
            report("\(module.className) is not built into this program", at: module.classRange, in: entry, hint: hint)
            return nil
        }
        let table = module.outcomes.isEmpty ? ActionTable(module.flag) : module.outcomes.table
        let values = values(of: module, kind: kind, in: entry)
        return link(module, kind: kind, values: values, table: table, control: module.control, in: entry)
    }

    /// Creates a module with the values of its options, which are nil after an error.
    func link(
        _ module: ModuleEntry,
        kind: ModuleKind,
        values: [String: PropertyValue]?,
        table: ActionTable,
        control: String,
        level: Int = 0,
        in entry: LoginContextTable.Entry
    ) -> LoginStack.Entry? {
        guard var values else { return nil }
        var deadline = LoginStack.defaultDeadline
        if kind.options[Self.deadline.name] == nil,
            case .duration(let time)? = values.removeValue(forKey: Self.deadline.name)
        {
            let option = module.options.last { $0.key == Self.deadline.name }
            guard time > .zero else {
                let range = option?.valueRange ?? module.classRange
                report("deadline must be longer than 0", at: range, in: entry, hint: "as in 250ms, 30s or 5m")
                return nil
            }
            deadline = time
        }
        let name = module.className
        func located(_ linked: LoginStack.Entry) -> LoginStack.Entry {
            var linked = linked
            let folder = RelativePath.folder(of: builder.text.name)
            linked.settings = values.configurationTexts(of: kind.options, in: folder)
            linked.place = entry.text.place(of: module.classRange)
            return linked
        }
        do throws(BadModule) {
            let options = try ModuleOptions(values, schema: kind.options, realmName: realmName, services: services)
            let made = try kind.makeModule(realm: realm, options: options)
            return located(
                LoginStack.Entry(made, table, control: control, name: name, level: level, deadline: deadline)
            )
        } catch {
            if mayBeUncreated(error, of: kind) {
                return located(.unlinked(name, table, control: control, level: level, namesUsers: kind.namesUsers))
            }
            let option = error.setting.flatMap { name in module.options.last { $0.key == name } }
            let message = "\(module.className) for realm \(realmName): \(error)"
            report(message, at: option?.valueRange ?? module.classRange, in: entry)
            return nil
        }
    }

    /// True for a proof, if a module cannot be created because its realm is not, or because of a file of its own.
    private func mayBeUncreated(_ error: BadModule, of kind: ModuleKind) -> Bool {
        guard builder.loader.isForProof else { return false }
        if realm is UncreatedRealm { return true }
        switch error.setting.flatMap({ kind.options[$0] })?.kind {
        case .path, .location: return true
        default: return false
        }
    }

    /// Reports jumps that skip all modules that follow; such a jump would refuse the login.
    private func reportJumps(in entry: Entry) {
        for (index, module) in entry.modules.enumerated() {
            for rule in module.outcomes {
                guard case .jump(let count) = rule.action, index + Int(count) + 1 >= entry.modules.count else {
                    continue
                }
                let following = entry.modules.count - index - 1
                let message = "there is no module after a jump over \(count), because only \(following) follow"
                report(message, at: rule.range, in: entry, hint: "a jump must lead to a module of this context")
            }
        }
    }

    /// Returns the values of the options by name; nil after an error.
    func values(
        of module: ModuleEntry,
        kind: ModuleKind,
        in entry: LoginContextTable.Entry
    ) -> [String: PropertyValue]? {
        let schema = [Self.deadline] + kind.options
        var values: [String: PropertyValue] = [:]
        var isComplete = true
        for option in module.options {
            if let property = schema[option.key] {
                values[option.key] = value(of: option, property: property, in: entry)
            } else {
                let shown = entry.text.names.mayQuote(option.key) ? "option \(option.key)" : "such option"
                let hint = ConfigurationBuilder.hint(option.key, among: schema.properties.map(\.name))
                report("\(module.className) has no \(shown)", at: option.keyRange, in: entry, hint: hint)
            }
            if values[option.key] == nil { isComplete = false }
        }
        return isComplete ? values : nil
    }

    private func value(of option: ModuleOption, property: Property, in entry: Entry) -> PropertyValue? {
        let expand = { (expansion: Expansion) throws(Diagnostic) -> [UInt8] in
            entry.isInline ? try option.expandedBytes(by: expansion, in: entry.text) : Array(option.value.utf8)
        }
        do throws(Diagnostic) {
            if property.kind == .secret {
                return .secret(Secret(try builder.secret(at: option.valueRange, in: entry.text, expand)))
            }
            let text = String(decoding: try expand(builder.expansion), as: UTF8.self)
            builder.noteReferences(as: .settings, at: option.valueRange, in: entry.text)
            // The references of a login.conf are properties, and are replaced by its parser.
            if entry.isInline {
                builder.log.hide(text, writtenAs: option.value, at: option.valueRange, in: entry.text)
            }
            // An option of login.conf has only one string as its value, so commas or white space separate words.
            let words =
                property.kind == .list ? text.split { $0 == "," || $0.isWhitespace }.map(String.init) : [text]
            let value = try Result { () throws(BadValue) in try PropertyValue(words, as: property.kind) }
                .mapError { entry.text.error(at: option.valueRange, "\(option.key) \($0)") }.get()
            return builder.resolved(value, of: property, at: option.valueRange, in: entry.text)
        } catch {
            builder.log.add(error)
            return nil
        }
    }

    private func report(_ message: String, at range: SourceRange, in entry: Entry, hint: String? = nil) {
        builder.log.add(entry.text.error(at: range, message, hint: hint))
    }
}
