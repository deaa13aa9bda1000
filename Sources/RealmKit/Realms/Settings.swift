// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The properties a realm is made of.
public typealias RealmProperties = Settings<BadRealm>

/// The options a module is made of.
public typealias ModuleOptions = Settings<BadModule>

/// What is thrown when a realm or a module cannot be made of its settings.
public protocol SettingsFault: Error, Sendable, CustomStringConvertible {
    /// The property or option at fault, if it is one.
    var setting: String? { get }
    /// What is wrong, for the administrator.
    var message: String { get }
    /// A fault with a message, and the setting it is about.
    ///
    /// - Parameters:
    ///   - message: What is wrong, for the administrator.
    ///   - setting: The property or option at fault, if it is one.
    init(_ message: String, setting: String?)
}

extension SettingsFault {
    /// The message, behind the setting's name if there is one.
    public var description: String { setting.map { "\($0): \(message)" } ?? message }
}

/// Values by name, each of the kind its schema declares, defaults filled in.
///
/// Asking for a setting that the schema does not declare, as another kind, or that has no value, throws: a realm that asks
/// wrongly cannot be loaded, which its first test shows.
public struct Settings<Fault: SettingsFault>: Sendable {
    /// The name of the realm in realms.conf these settings belong to.
    public let realmName: String
    /// What the program lends besides.
    public let services: RealmServices
    private let values: [String: PropertyValue]

    /// Checks values against a schema and fills in its defaults.
    ///
    /// - Parameters:
    ///   - values: What is set, by name.
    ///   - schema: What may be set.
    ///   - realmName: The name of the realm these belong to.
    ///   - services: What the program lends besides.
    /// - Throws: The fault, for a name that is not in the schema, or one that must be set and is not.
    public init(
        _ values: [String: PropertyValue] = [:],
        schema: PropertySchema,
        realmName: String,
        services: RealmServices = .none
    ) throws(Fault) {
        for name in values.keys.sorted() where schema[name] == nil {
            throw Fault("is not known here", setting: name)
        }
        var complete = values
        for property in schema.properties where complete[property.name] == nil {
            guard let text = property.defaultText else {
                guard !property.isRequired else { throw Fault("must be set", setting: property.name) }
                continue
            }
            do throws(BadValue) {
                let words = property.kind == .list ? text.split(separator: " ").map(String.init) : [text]
                complete[property.name] = try PropertyValue(words, as: property.kind)
            } catch {
                throw Fault("has a default that cannot be: it \(error)", setting: property.name)
            }
        }
        self.values = complete
        self.realmName = realmName
        self.services = services
    }

    /// Whether there is a value, set or by default.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: Whether the others have something to return for it.
    public func has(_ name: String) -> Bool { values[name] != nil }

    /// The entry of login.conf whose modules check the realm's users.
    public var jaasContext: String {
        get throws(Fault) { try string("jaas-context") }
    }

    /// A text, a path or one of a choice.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: The text.
    /// - Throws: The fault, when there is no such value.
    public func string(_ name: String) throws(Fault) -> String {
        guard case .string(let text) = values[name] else { throw missing(name, "text") }
        return text
    }

    /// A whole number.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: The number, within the bounds its schema declares.
    /// - Throws: The fault, when there is no such value.
    public func integer(_ name: String) throws(Fault) -> Int {
        guard case .integer(let number) = values[name] else { throw missing(name, "number") }
        return number
    }

    /// Yes or no.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: Yes or no.
    /// - Throws: The fault, when there is no such value.
    public func boolean(_ name: String) throws(Fault) -> Bool {
        guard case .boolean(let value) = values[name] else { throw missing(name, "true or false") }
        return value
    }

    /// A time.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: The time, not less than none.
    /// - Throws: The fault, when there is no such value.
    public func duration(_ name: String) throws(Fault) -> Duration {
        guard case .duration(let value) = values[name] else { throw missing(name, "time") }
        return value
    }

    /// Words.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: The words; there may be none.
    /// - Throws: The fault, when there is no such value.
    public func list(_ name: String) throws(Fault) -> [String] {
        guard case .list(let words) = values[name] else { throw missing(name, "list") }
        return words
    }

    /// Bytes nobody may see.
    ///
    /// - Parameter name: A name of the schema.
    /// - Returns: The secret.
    /// - Throws: The fault, when there is no such value.
    public func secret(_ name: String) throws(Fault) -> Secret {
        guard case .secret(let secret) = values[name] else { throw missing(name, "secret") }
        return secret
    }

    private func missing(_ name: String, _ kind: String) -> Fault {
        Fault(values[name] == nil ? "has no value" : "holds no \(kind)", setting: name)
    }
}
