// SPDX-License-Identifier: Apache-2.0

/// The services that the program provides to realms, one of each type: the hashing pool, a store, a log.
///
/// A realm finds them in ``Settings/services``. The program creates them once per configuration. If a service that a
/// realm needs is absent, the realm throws ``BadRealm`` and the configuration does not load.
public struct RealmServices: Sendable {
    /// No services.
    public static let none = RealmServices()

    private var services: [ObjectIdentifier: any Sendable] = [:]

    /// Creates an empty set of services.
    public init() {}

    /// The service of a type; nil if the program does not provide it.
    ///
    /// - Parameter type: The type under which it was set.
    public subscript<Service: Sendable>(type: Service.Type) -> Service? {
        get { services[ObjectIdentifier(type)] as? Service }
        set { services[ObjectIdentifier(type)] = newValue }
    }
}
