// SPDX-License-Identifier: Apache-2.0

/// The values of the references `${...}` in a configuration: properties, environment variables and files.
///
/// The caller provides the values; the parsers read no environment variables or files themselves. login.conf allows
/// `${name}` for a property and `${/}` for a `/`, as in the JDK. realms.conf also allows `${env:NAME}` and
/// `${file:PATH}`.
public struct Expansion: Sendable {
    /// The error for a file that cannot be read.
    public struct UnreadableFile: Error, Sendable, Hashable {
        /// The reason; messages show it after the name of the file.
        public let reason: String
        /// True if there is no such file.
        public let isMissing: Bool

        /// Creates an error with a reason such as "permission denied".
        public init(_ reason: String, isMissing: Bool = false) { (self.reason, self.isMissing) = (reason, isMissing) }
    }

    /// Returns the value of a property; nil if it is not defined.
    public var property: @Sendable (_ name: String) -> String?
    /// Returns the value of an environment variable; nil if it is not set.
    public var environment: @Sendable (_ name: String) -> String?
    /// Returns the content of a file; the path is passed as it is written.
    ///
    /// One line end (LF or CRLF) at the end of the content is removed after the call.
    public var file: @Sendable (_ path: String) -> Result<[UInt8], UnreadableFile>

    /// Creates an expansion; by default no property is defined, no variable is set, and no file can be read.
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

    /// An expansion without properties, environment variables or files.
    public static let none = Expansion()
}

extension SourceText {
    /// Returns whether a value, which may have quotes, is one or more references `${...}` and nothing else, so that it is
    /// not written in this text; `${{...}}` is not a reference.
    public func consistsOfReferences(in range: SourceRange) -> Bool {
        let end = min(range.end, bytes.count)
        var rest = bytes[min(range.start, end)..<end]
        if rest.first == .quote, rest.last == .quote { rest = rest.dropFirst().dropLast() }
        return rest.consistsOfReferences
    }
}

extension ArraySlice<UInt8> {
    /// True for a text of references `${...}` and nothing else.
    var consistsOfReferences: Bool {
        var rest = self
        while !rest.isEmpty {
            guard rest.starts(with: "${".utf8), !rest.starts(with: "${{".utf8),
                let close = rest.firstIndex(of: .closeBrace)
            else { return false }
            rest = rest[(close + 1)...]
        }
        return !isEmpty
    }
}
