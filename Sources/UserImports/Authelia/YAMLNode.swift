// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// A value of a YAML file, with the line at which it begins.
indirect enum YAMLNode: Sendable {
    /// A text; `isPlain` if it has no quotes.
    case scalar(String, isPlain: Bool, line: Int)
    case list([YAMLNode], line: Int)
    case mapping([YAMLMember], line: Int)

    var line: Int {
        switch self {
        case .scalar(_, _, let line), .list(_, let line), .mapping(_, let line): line
        }
    }

    /// True for a plain scalar that means no value.
    var isNull: Bool {
        guard case .scalar(let text, true, _) = self else { return false }
        return ["", "~", "null", "Null", "NULL"].contains { text.hasBytes(of: $0) }
    }
}

/// A key of a mapping, and its value.
struct YAMLMember: Sendable {
    let key: String
    let line: Int
    let value: YAMLNode
}
