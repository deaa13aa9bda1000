// SPDX-License-Identifier: Apache-2.0

/// The reason why a request target is ambiguous: two programs might read it differently.
public enum AmbiguousPath: Error, Sendable, Hashable, CustomStringConvertible {
    /// The target has no path, or a user name before the host.
    case noPath
    /// The path is longer than 8192 bytes.
    case tooLong
    /// Two `/` follow each other.
    case emptySegment
    /// A segment is `.` or `..`.
    case dots
    /// A `%` without two hexadecimal digits, or an encoded character that is not allowed.
    ///
    /// The encoded forms of `/`, `\`, `%`, `;`, `?`, `#`, control characters and bytes that are not UTF-8 are rejected.
    case encoding
    /// A character that is not allowed in a path, such as `;`, `\` or a character that is not ASCII.
    case character
    /// The target contains a `#`.
    case fragment
    /// The path can be read in too many ways, such as `%252525252F`.
    case tooManyReadings

    /// A short text for the administrator.
    ///
    /// It contains no part of the target.
    public var description: String {
        switch self {
        case .noPath: "the target has no path, or a user name before the host"
        case .tooLong: "the path is longer than 8192 bytes"
        case .emptySegment: "two / follow each other"
        case .dots: "a segment is . or .."
        case .encoding: "a % without two hexadecimal digits, or an encoded character that is not allowed, such as %2F"
        case .character: "a character that is not allowed in a path, such as ; or \\"
        case .fragment: "the target contains a #"
        case .tooManyReadings: "the path can be read in too many ways"
        }
    }
}
