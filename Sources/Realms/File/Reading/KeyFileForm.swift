// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// How a file of users is written.
enum KeyFileForm: String, Sendable, Hashable {
    /// `user;hash;group,group`, as GlassFish and Payara write it.
    case glassfish
    /// `user:hash`, as the htpasswd of Apache writes it.
    case htpasswd

    /// What stands between name and hash.
    var separator: UInt8 {
        switch self {
        case .glassfish: UInt8(ascii: ";")
        case .htpasswd: UInt8(ascii: ":")
        }
    }

    /// What stands for the password of somebody who has none.
    var noPassword: String {
        switch self {
        case .glassfish: "RESET"
        case .htpasswd: "*"
        }
    }

    /// Tells the form by the content: on each line the first of `;` and `:` decides.
    ///
    /// - Returns: The form; nil if no line holds either.
    static func detect(_ bytes: [UInt8], _ lines: [TextLine], _ path: String) throws(FileFault) -> KeyFileForm? {
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
                    \(path):\(line.number): this line is written as in \(form.name), line \(known.line) as in \
                    \(known.form.name); set format to glassfish or htpasswd, and the others are left out
                    """
                )
            }
        }
        return found?.form
    }

    /// The form's name in a sentence.
    var name: String {
        switch self {
        case .glassfish: "a GlassFish key file (user;hash;groups)"
        case .htpasswd: "an htpasswd file (user:hash)"
        }
    }
}

/// What a line of a file of users says.
enum ReadLine: Sendable {
    /// Nothing: it is blank, or a comment.
    case nothing
    /// A user.
    case user(UserLine)
    /// Nothing that can be trusted, and why.
    case refused(String)
}

/// Where on a line of a file the parts of a user are.
struct UserLine: Sendable {
    let name: Username
    /// The hash, with a `!` before it where the user is disabled.
    let stored: Range<Int>
    /// The groups; nil where the line has no place for them.
    let groups: Range<Int>?
    /// The end of the last of these.
    let end: Int
    let line: TextLine
}
