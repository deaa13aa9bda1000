// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the program lends to realms besides their properties, one of each type: hashing slots, a store, a log.
///
/// A realm finds it in ``Settings/services``. The program makes it once per configuration; a realm that needs a service
/// that is not there throws ``BadRealm``, so that it is missed at load and not at the first login.
public struct RealmServices: Sendable {
    /// No services.
    public static let none = RealmServices()

    private var services: [ObjectIdentifier: any Sendable] = [:]

    /// No services yet.
    public init() {}

    /// The service of a type, if the program has one.
    ///
    /// - Parameter type: The type under which it was set.
    public subscript<Service: Sendable>(type: Service.Type) -> Service? {
        get { services[ObjectIdentifier(type)] as? Service }
        set { services[ObjectIdentifier(type)] = newValue }
    }
}

/// Where a realm says what the administrator should know: a file that could not be read again, a line that was left out.
public struct RealmLog: Sendable {
    /// How much it matters.
    public enum Level: Sendable, Hashable {
        /// Good to know.
        case notice
        /// Something is not as it should be; the realm goes on.
        case warning
        /// Something does not work.
        case error
    }

    private let write: @Sendable (Level, String) -> Void

    /// A log.
    ///
    /// - Parameter write: Takes a message, without secrets; it does not block.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    /// Says something.
    ///
    /// - Parameters:
    ///   - message: What happened, without secrets; names that came from outside are quoted by the receiver.
    ///   - level: How much it matters.
    public func callAsFunction(_ message: String, _ level: Level = .warning) {
        write(level, message)
    }
}

/// The time of day, as far as accounts that end need it.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// A clock.
    ///
    /// - Parameter read: Seconds since 1970.
    public init(_ read: @escaping @Sendable () -> Int) {
        self.read = read
    }

    /// Seconds since 1970.
    public var seconds: Int { read() }
}
