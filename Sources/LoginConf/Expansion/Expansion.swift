// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What `${...}` in a configuration stands for: the caller's properties, environment and files.
///
/// The parsers read nothing from outside by themselves; whatever a text may refer to comes in through these closures.
/// In login.conf only `${name}` (a property) and `${/}` exist, as in the JDK; realms.conf adds `${env:NAME}` and
/// `${file:PATH}`.
public struct Expansion: Sendable {
    /// Why a file could not be read.
    public struct UnreadableFile: Error, Sendable, Hashable {
        /// The reason, to be shown after the file's name.
        public let reason: String

        /// A reason such as "permission denied".
        public init(_ reason: String) { self.reason = reason }
    }

    /// The value of a property, nil if it is not defined.
    public var property: @Sendable (_ name: String) -> String?
    /// The value of an environment variable, nil if it is not set.
    public var environment: @Sendable (_ name: String) -> String?
    /// The content of a file, by its path as written.
    ///
    /// One line end (LF or CRLF) at its end is taken off afterwards.
    public var file: @Sendable (_ path: String) -> Result<[UInt8], UnreadableFile>

    /// Where values come from.
    ///
    /// - Parameters:
    ///   - property: The value of a property; by default none is defined.
    ///   - environment: The value of an environment variable; by default none is set.
    ///   - file: The content of a file; by default none can be read.
    public init(
        property: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        environment: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        file: @escaping @Sendable (_ path: String) -> Result<[UInt8], UnreadableFile> = { _ in
            .failure(UnreadableFile("files are not read here"))
        }
    ) {
        self.property = property
        self.environment = environment
        self.file = file
    }

    /// Nothing is defined, set or readable.
    public static let none = Expansion()
}
