// SPDX-License-Identifier: Apache-2.0

/// The fault that is thrown when a realm or a module cannot be created from its settings.
public protocol SettingsFault: Error, Sendable, CustomStringConvertible {
    /// The name of the wrong property or option; nil if the fault is not about a single setting.
    var setting: String? { get }
    /// The problem, for the administrator.
    var message: String { get }
    /// Creates a fault.
    init(_ message: String, setting: String?)
}

extension SettingsFault {
    /// The message, after the setting's name if there is one.
    public var description: String { setting.map { "\($0): \(message)" } ?? message }
}

/// The values of a realm's properties or of a module's options, by name, checked against a schema and with defaults
/// filled in.
///
/// Reading a setting throws if the schema does not declare it, if it has another kind, or if it has no value. A realm
/// reads its settings when it is created, so such a defect is found when the configuration is loaded.
public struct Settings<Fault: SettingsFault>: Sendable {
    /// The name in realms.conf of the realm that the settings belong to.
    public let realmName: String
    /// The services that the program provides.
    public let services: RealmServices
    let values: [String: PropertyValue]

    /// Checks values against a schema and fills in its defaults.
    ///
    /// - Throws: The fault, for a name that is not in the schema, for a required name without a value, and for an
    ///   invalid default.
    public init(
        _ values: [String: PropertyValue] = [:],
        schema: PropertySchema,
        realmName: String,
        services: RealmServices = .none
    ) throws(Fault) {
        for name in values.keys.sorted() where schema[name] == nil {
            throw Fault("is unknown", setting: name)
        }
        var complete = values
        for property in schema.properties where complete[property.name] == nil {
            guard let text = property.defaultText else {
                guard !property.isRequired else { throw Fault("must be set", setting: property.name) }
                continue
            }
            let words = property.kind == .list ? text.split(separator: " ").map(String.init) : [text]
            complete[property.name] = try Result { () throws(BadValue) in try PropertyValue(words, as: property.kind) }
                .mapError { Fault("has an invalid default: it \($0)", setting: property.name) }.get()
        }
        self.values = complete
        self.realmName = realmName
        self.services = services
    }

    /// Returns whether a setting has a value, from the configuration or by default.
    public func has(_ name: String) -> Bool { values[name] != nil }

    /// The entry of login.conf whose modules authenticate the realm's users.
    public var jaasContext: String { get throws(Fault) { try string("jaas-context") } }

    /// Returns a text, a path or the selected word of a choice.
    public func string(_ name: String) throws(Fault) -> String {
        guard case .string(let text) = values[name] else { throw missing(name, kind: "a text") }
        return text
    }

    /// Returns a text, a path or the selected word of a choice; nil if it has no value.
    package func optional(_ name: String) throws(Fault) -> String? { has(name) ? try string(name) : nil }

    /// Returns a whole number.
    public func integer(_ name: String) throws(Fault) -> Int {
        guard case .integer(let number) = values[name] else { throw missing(name, kind: "a number") }
        return number
    }

    /// Returns true or false.
    public func boolean(_ name: String) throws(Fault) -> Bool {
        guard case .boolean(let value) = values[name] else { throw missing(name, kind: "true or false") }
        return value
    }

    /// Returns a duration.
    public func duration(_ name: String) throws(Fault) -> Duration {
        guard case .duration(let value) = values[name] else { throw missing(name, kind: "a time") }
        return value
    }

    /// Returns a list of words.
    public func list(_ name: String) throws(Fault) -> [String] {
        guard case .list(let words) = values[name] else { throw missing(name, kind: "a list") }
        return words
    }

    /// Returns confidential bytes.
    public func secret(_ name: String) throws(Fault) -> Secret {
        guard case .secret(let secret) = values[name] else { throw missing(name, kind: "a secret") }
        return secret
    }

    /// Returns the other realm that a setting refers to.
    public func realm(_ name: String) throws(Fault) -> BoundRealm {
        guard case .realms(let realms) = values[name], let realm = realms.first else {
            throw missing(name, kind: "a realm")
        }
        return realm
    }

    /// Returns the other realms that a setting refers to, in the order of the configuration; empty if it has no value.
    public func realms(_ name: String) throws(Fault) -> [BoundRealm] {
        guard let value = values[name] else { return [] }
        guard case .realms(let realms) = value else { throw missing(name, kind: "a list of realms") }
        return realms
    }

    private func missing(_ name: String, kind: String) -> Fault {
        Fault(values[name] == nil ? "has no value" : "is not \(kind)", setting: name)
    }
}
