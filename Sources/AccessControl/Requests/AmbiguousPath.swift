// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The reason why two programs might read a request target differently.
public enum AmbiguousPath: Error, Sendable, Hashable, CustomStringConvertible {
    /// The target has no path, or a user name before the host.
    case noPath
    /// The path is longer than 8192 bytes.
    case tooLong
    /// Two `/` follow each other.
    case emptySegment
    /// A segment is `.` or `..`.
    case dots
    /// A `%` without two digits, or an encoded `/`, `\`, `%`, `;`, `?`, `#`, control character or sequence that is not
    /// UTF-8.
    case encoding
    /// A character that is not allowed in a path, such as `;`, `\` or one that is not ASCII.
    case character
    /// The target contains a `#`.
    case fragment

    /// A short text for the administrator, which does not repeat any part of the target.
    public var description: String {
        switch self {
        case .noPath: "the target has no path, or a user name before the host"
        case .tooLong: "the path is longer than 8192 bytes"
        case .emptySegment: "two / follow each other"
        case .dots: "a segment is . or .."
        case .encoding: "a % without two hexadecimal digits, or an encoded character that is not allowed, such as %2F"
        case .character: "a character that is not allowed in a path, such as ; or \\"
        case .fragment: "the target contains a #"
        }
    }
}
