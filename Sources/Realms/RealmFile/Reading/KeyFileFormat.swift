// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The format of a file of users.
enum KeyFileFormat: String, Sendable, Hashable {
    /// `user;hash;group,group`, the key file of GlassFish and Payara.
    case glassfish
    /// `user:hash`, the file of Apache's htpasswd.
    case htpasswd

    /// The character between the name and the hash.
    var separator: UInt8 {
        switch self {
        case .glassfish: UInt8(ascii: ";")
        case .htpasswd: UInt8(ascii: ":")
        }
    }

    /// The text in the field of the hash for a user without a password.
    var noPassword: String {
        switch self {
        case .glassfish: "RESET"
        case .htpasswd: "*"
        }
    }

    /// Detects the format by the first `;` or `:` of each line.
    ///
    /// - Returns: The format; nil if no line contains `;` or `:`.
    static func detect(_ bytes: [UInt8], lines: [TextLine], path: String) throws(FileFault) -> KeyFileFormat? {
        var detection = Detection(path: path)
        try detection.read(bytes, lines: lines)
        return detection.format
    }

    /// The detection of the format of a file that is read in parts.
    struct Detection {
        let path: String
        /// The format of the lines so far; nil if none of them contains `;` or `:`.
        private(set) var format: KeyFileFormat?
        private var line = 0

        init(path: String) {
            self.path = path
        }

        /// Reads the next lines; throws if two lines have different formats.
        mutating func read(_ bytes: [UInt8], lines: [TextLine]) throws(FileFault) {
            for line in lines {
                let content = bytes.trimmed(line.content)
                guard !content.isEmpty, bytes[content.lowerBound] != UInt8(ascii: "#"),
                    let index = content.first(where: {
                        bytes[$0] == UInt8(ascii: ";") || bytes[$0] == UInt8(ascii: ":")
                    })
                else { continue }
                let found: KeyFileFormat = bytes[index] == UInt8(ascii: ";") ? .glassfish : .htpasswd
                guard let format else {
                    (format, self.line) = (found, line.number)
                    continue
                }
                guard format == found else {
                    throw FileFault(
                        """
                        \(path):\(line.number): this line is in the format of \(found.name), line \(self.line) in the format of \
                        \(format.name); set format to glassfish or htpasswd to ignore lines of the other format
                        """
                    )
                }
            }
        }
    }

    /// The name of the format in messages.
    var name: String {
        switch self {
        case .glassfish: "a GlassFish key file (user;hash;groups)"
        case .htpasswd: "an htpasswd file (user:hash)"
        }
    }
}

/// The result of reading one line of a file of users.
enum ParsedLine: Sendable {
    /// A blank line or a comment.
    case blank
    /// A user.
    case user(UserLine)
    /// A malformed line, with the reason.
    case malformed(String)
}

/// A user's line, with the ranges of its fields in the file.
struct UserLine: Sendable {
    let name: Username
    /// The hash, with a `!` before it if the user is disabled.
    let stored: Range<Int>
    /// The groups; nil if the line has no field for them.
    let groups: Range<Int>?
    /// The end of the last field.
    let end: Int
    let line: TextLine
}
