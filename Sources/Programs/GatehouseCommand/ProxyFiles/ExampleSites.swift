// SPDX-License-Identifier: Apache-2.0

/// The example sites of a file in `docs/forward-auth`, which are replaced by the hosts of a user.
///
/// A proxy does not start with a site whose certificate is missing, or with two sites of the same name.
struct ExampleSites {
    /// The host and the address of the first application in the files.
    static let application = ProxyFile.Application(host: "app.example.com", address: "127.0.0.1:3000")
    static let signInHost = "auth.example.com"

    private let sections: [Section]

    init(_ bytes: [UInt8]) { sections = Self.sections(of: String(decoding: bytes, as: UTF8.self)) }

    /// The file with these hosts instead of the examples.
    func file(_ applications: [ProxyFile.Application], signInHost: String?) -> String {
        let lines = sections.flatMap { section in
            guard section.host != nil else { return section.comments + section.lines }
            return Self.lines(of: section, applications, signInHost: signInHost, hasComments: true)
        }
        return Self.text(lines)
    }

    /// The sections of these hosts; an empty text if the file has no sections of hosts.
    func sites(_ applications: [ProxyFile.Application], signInHost: String?, hasComments: Bool) -> String {
        let lines = sections.flatMap { section in
            Self.lines(of: section, applications, signInHost: signInHost, hasComments: hasComments)
        }
        return lines.isEmpty ? "" : Self.text(lines)
    }

    private static func text(_ lines: [String]) -> String {
        let end = lines.lastIndex { !$0.isEmpty } ?? lines.startIndex
        return lines[...end].joined(separator: "\n") + "\n"
    }

    static func replaced(_ text: String, _ application: ProxyFile.Application) -> String {
        text.replacing(Self.application.host, with: application.host)
            .replacing(Self.application.address, with: application.address)
    }

    static func replaced(_ text: String, signInHost: String) -> String {
        text.replacing(Self.signInHost, with: signInHost)
    }

    /// The lines of an example, once for each host that it is an example for.
    private static func lines(
        of section: Section,
        _ applications: [ProxyFile.Application],
        signInHost: String?,
        hasComments: Bool
    ) -> [String] {
        let comments = hasComments ? section.comments : []
        switch section.host {
        case application.host:
            let lines = applications.flatMap { application in
                section.lines.map { line in
                    // HAProxy: the backend is named after the host.
                    let words = line.split(separator: " ")
                    if words == ["backend", "app"] { return "backend \(application.host)" }
                    if words == ["app.example.com", "app"] { return "\(application.host)  \(application.host)" }
                    return replaced(line, application)
                }
            }
            return lines.isEmpty ? [] : comments + lines
        case Self.signInHost:
            guard let signInHost else { return [] }
            return comments + section.lines.map { replaced($0, signInHost: signInHost) }
        default: return []
        }
    }

    /// A line at the first column, the comments before it, and the lines after it.
    private struct Section {
        var comments: [String] = []
        var lines: [String] = []
        /// The host that it is an example for; nil for other sections.
        var host: String?
    }

    /// The sections of a file: each begins with a line at the first column that is neither a comment nor `}`, and the comments
    /// directly above this line belong to it.
    private static func sections(of text: String) -> [Section] {
        var sections = [Section()]
        var comments: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.first {
            case "#": comments.append(String(line))
            case nil, " ", "\t", "}":
                sections[sections.count - 1].lines += comments + [String(line)]
                comments = []
            default:
                sections.append(Section(comments: comments, lines: [String(line)], host: host(line)))
                comments = []
            }
        }
        sections[sections.count - 1].lines += comments
        return sections
    }

    /// The host of an example from the first line of its section; nil for another section.
    private static func host(_ line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard words.count == 2 else { return nil }
        if words[0] == "backend", !words[1].hasPrefix("gatehouse") { return "\(words[1]).example.com" }
        return words[0].hasSuffix(".example.com") ? String(words[0]) : nil
    }
}
