// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The reason why two programs might read a request target differently.
public enum AmbiguousPath: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no path, or a user in front of the host.
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
    /// There is a `#`.
    case fragment

    /// A short text for the administrator, which does not repeat any part of the target.
    public var description: String {
        switch self {
        case .noPath: "there is no path, or a user in front of the host"
        case .tooLong: "the path is longer than 8192 bytes"
        case .emptySegment: "two / follow each other"
        case .dots: "a segment is . or .."
        case .encoding: "a % stands for nothing, or for what must not be encoded: / \\ % ; ? # and control characters"
        case .character: "a character has no place in a path, such as ; or \\"
        case .fragment: "there is a #"
        }
    }
}
