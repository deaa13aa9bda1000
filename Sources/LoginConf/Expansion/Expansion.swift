// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The values of `${...}` in a configuration: properties, environment variables and files, provided by the caller.
///
/// The parsers read nothing from outside but through these closures. login.conf has only `${name}` (a property) and
/// `${/}`, as in the JDK; realms.conf also has `${env:NAME}` and `${file:PATH}`.
public struct Expansion: Sendable {
    /// A file that could not be read.
    public struct UnreadableFile: Error, Sendable, Hashable {
        /// The reason, shown after the file's name.
        public let reason: String

        /// Creates a fault with a reason such as "permission denied".
        public init(_ reason: String) { self.reason = reason }
    }

    /// Returns the value of a property; nil if it is not defined.
    public var property: @Sendable (_ name: String) -> String?
    /// Returns the value of an environment variable; nil if it is not set.
    public var environment: @Sendable (_ name: String) -> String?
    /// Returns the content of a file, by its path as written.
    ///
    /// One line end (LF or CRLF) at the end of the content is removed afterwards.
    public var file: @Sendable (_ path: String) -> Result<[UInt8], UnreadableFile>

    /// Creates an expansion.
    ///
    /// - Parameters:
    ///   - property: Returns the value of a property; by default no property is defined.
    ///   - environment: Returns the value of an environment variable; by default none is set.
    ///   - file: Returns the content of a file; by default no file can be read.
    public init(
        property: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        environment: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        file: @escaping @Sendable (_ path: String) -> Result<[UInt8], UnreadableFile> = { _ in
            .failure(UnreadableFile("files cannot be read here"))
        }
    ) {
        self.property = property
        self.environment = environment
        self.file = file
    }

    /// An expansion without properties, environment variables and files.
    public static let none = Expansion()
}
