// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The form of a file of users.
enum KeyFileForm: String, Sendable, Hashable {
    /// `user;hash;group,group`, the form of GlassFish and Payara.
    case glassfish
    /// `user:hash`, the form of Apache's htpasswd.
    case htpasswd

    /// The character between name and hash.
    var separator: UInt8 {
        switch self {
        case .glassfish: UInt8(ascii: ";")
        case .htpasswd: UInt8(ascii: ":")
        }
    }

    /// The text in the place of the hash of a user without a password.
    var noPassword: String {
        switch self {
        case .glassfish: "RESET"
        case .htpasswd: "*"
        }
    }

    /// Detects the form by the content: on each line the first of `;` and `:` decides.
    ///
    /// - Returns: The form; nil if no line has either.
    static func detect(_ bytes: [UInt8], lines: [TextLine], path: String) throws(FileFault) -> KeyFileForm? {
        var found: (form: KeyFileForm, line: Int)?
        for line in lines {
            let content = bytes.trimmed(line.content)
            guard !content.isEmpty, bytes[content.lowerBound] != UInt8(ascii: "#"),
                let place = content.first(where: { bytes[$0] == UInt8(ascii: ";") || bytes[$0] == UInt8(ascii: ":") })
            else { continue }
            let form: KeyFileForm = bytes[place] == UInt8(ascii: ";") ? .glassfish : .htpasswd
            guard let known = found else {
                found = (form, line.number)
                continue
            }
            guard known.form == form else {
                throw FileFault(
                    """
                    \(path):\(line.number): this line is in the form of \(form.name), line \(known.line) in the form of \
                    \(known.form.name); set format to glassfish or htpasswd to ignore lines of the other form
                    """
                )
            }
        }
        return found?.form
    }

    /// The form's name in a message.
    var name: String {
        switch self {
        case .glassfish: "a GlassFish key file (user;hash;groups)"
        case .htpasswd: "an htpasswd file (user:hash)"
        }
    }
}

/// A line of a file of users, read.
enum ReadLine: Sendable {
    /// A blank line or a comment.
    case nothing
    /// A user.
    case user(UserLine)
    /// A malformed line, with the reason.
    case refused(String)
}

/// The places of a user's fields on a line of a file.
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
