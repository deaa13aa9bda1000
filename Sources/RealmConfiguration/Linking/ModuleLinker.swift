// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Makes the modules of one entry of login.conf for one realm.
struct ModuleLinker {
    let linker: Linker
    let realm: any Realm
    let realmName: String
    let services: RealmServices

    /// An option every module has: how long the engine waits for its answer.
    static let deadline = Property("deadline", .duration)

    func stack(_ entry: ContextTable.Entry) -> LoginStack? {
        guard entry.modules.count <= LoginStack.maximumEntries else {
            let message = "an entry has at most \(LoginStack.maximumEntries) modules"
            linker.log.add(entry.text.error(at: entry.nameRange, message))
            return nil
        }
        let entries = entry.modules.compactMap { link($0, in: entry) }
        guard entries.count == entry.modules.count else { return nil }
        return LoginStack(name: entry.name, entries, clock: linker.loader.clock)
    }

    private func link(_ module: ModuleEntry, in entry: ContextTable.Entry) -> LoginStack.Entry? {
        let kinds = linker.loader.kinds.flatMap(\.modules)
        guard let kind = kinds.first(where: { $0.names.contains(module.className) }) else {
            let hint = Linker.hint(module.className, among: kinds.flatMap(\.names))
            report(entry, module.classRange, "there is no login module \(module.className)", hint: hint)
            return nil
        }
        guard let (values, deadline) = values(module, kind, entry) else { return nil }
        do throws(BadModule) {
            let options = try ModuleOptions(
                values,
                schema: kind.options,
                realmName: realmName,
                services: services
            )
            let made = try kind.makeModule(realm: realm, options: options)
            var linked = LoginStack.Entry(
                made,
                module.flag,
                name: module.className,
                deadline: deadline ?? LoginStack.defaultDeadline
            )
            linked.settings = values.definitions
            return linked
        } catch {
            let option = error.setting.flatMap { name in module.options.last { $0.key == name } }
            let message = "\(module.className) for realm \(realmName): \(error)"
            report(entry, option?.valueRange ?? module.classRange, message)
            return nil
        }
    }

    /// The options by name, checked against what the module knows, and the deadline.
    private func values(
        _ module: ModuleEntry,
        _ kind: ModuleKind,
        _ entry: ContextTable.Entry
    ) -> (values: [String: PropertyValue], deadline: Duration?)? {
        var values: [String: PropertyValue] = [:]
        var deadline: Duration?
        var isComplete = true
        for option in module.options {
            guard let property = kind.options[option.key] ?? (option.key == "deadline" ? Self.deadline : nil) else {
                let known = kind.options.properties.map(\.name) + [Self.deadline.name]
                let hint = Linker.hint(option.key, among: known)
                report(entry, option.keyRange, "\(module.className) has no option \(option.key)", hint: hint)
                isComplete = false
                continue
            }
            guard let value = value(option, property, entry) else {
                isComplete = false
                continue
            }
            if kind.options[option.key] == nil, case .duration(let time) = value {
                if time <= .zero {
                    report(entry, option.valueRange, "deadline is longer than 0", hint: "as in 250ms, 30s or 5m")
                    isComplete = false
                }
                deadline = time
            } else {
                values[option.key] = value
            }
        }
        return isComplete ? (values, deadline) : nil
    }

    private func value(_ option: ModuleOption, _ property: Property, _ entry: ContextTable.Entry) -> PropertyValue? {
        do throws(Diagnostic) {
            let bytes =
                entry.isInline
                ? try option.expandedBytes(by: linker.expansion, in: entry.text) : Array(option.value.utf8)
            if case .secret = property.kind { return .secret(Secret(bytes)) }
            let text = String(decoding: bytes, as: UTF8.self)
            let words = property.kind == .list ? Self.words(of: text) : [text]
            do throws(BadValue) {
                let value = try PropertyValue(words, as: property.kind)
                if case .path = property.kind {
                    return .string(FilePath.resolve(text, beside: entry.text.name))
                }
                return value
            } catch {
                report(entry, option.valueRange, "\(option.key) \(error)")
                return nil
            }
        } catch {
            linker.log.add(error)
            return nil
        }
    }

    /// An option of login.conf is one string; a list in it is separated by commas or blanks.
    private static func words(of text: String) -> [String] {
        text.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    private func report(_ entry: ContextTable.Entry, _ range: SourceRange, _ message: String, hint: String? = nil) {
        linker.log.add(entry.text.error(at: range, message, hint: hint))
    }
}
