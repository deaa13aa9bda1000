// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The example sites of the files in `docs/forward-auth`, without the first application.
///
/// A proxy does not start with a site whose certificate is missing, or with two sites of the same name.
struct ExampleSites {
    /// The host of the first application in the files.
    static let host = "app.example.com"
    /// The address of the first application in the files.
    static let application = "127.0.0.1:3000"

    /// The backends of haproxy.cfg that only example sites use.
    private let backends: Set<Substring>

    /// Finds the backends of the examples.
    ///
    /// - Parameter map: The text of hosts.map.
    init(map: String) {
        var examples: Set<Substring> = []
        // The pages of Gatehouse are served at the host of the application too.
        var others: Set<Substring> = ["gatehouse"]
        for line in map.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 2 else { continue }
            if Self.isExample(words[0]) { examples.insert(words[1]) } else { others.insert(words[1]) }
        }
        backends = examples.subtracting(others)
    }

    /// Returns a file of a proxy without the example sites, and without the comments about them.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - name: The name of the file.
    /// - Returns: The text.
    func removed(from text: String, name: String) -> String {
        let isExample: (Substring) -> Bool
        switch name {
        case "Caddyfile":
            isExample = { line in
                guard line.hasSuffix(" {") else { return false }
                let names = line.dropLast(2).split(separator: ",").map { $0.drop { $0 == " " } }
                return names.allSatisfy(Self.isExample)
            }
        case "hosts.map": isExample = { line in line.split(separator: " ").first.map(Self.isExample) ?? false }
        case "haproxy.cfg":
            isExample = { [backends] line in
                let words = line.split(separator: " ")
                return words.count == 2 && words[0] == "backend" && backends.contains(words[1])
            }
        default: return text
        }
        let kept = Self.sections(of: text).filter { section in !(section.header.map(isExample) ?? false) }
            .flatMap(\.lines).joined(separator: "\n")
        return kept.hasSuffix("\n") ? kept : kept + "\n"
    }

    private static func isExample(_ name: Substring) -> Bool { name.hasSuffix(".example.com") && name != host }

    /// The lines of a section: the comments before it, a line at the first column, and the lines after it.
    private struct Section {
        var lines: [Substring] = []
        var header: Substring?
    }

    /// Returns the sections of a file.
    ///
    /// A section begins with a line at the first column that is neither a comment nor `}`. Comments directly above this line
    /// belong to it.
    private static func sections(of text: String) -> [Section] {
        var sections = [Section()]
        var comments: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.first {
            case "#": comments.append(line)
            case nil, " ", "\t", "}":
                sections[sections.count - 1].lines += comments + [line]
                comments = []
            default:
                sections.append(Section(lines: comments + [line], header: line))
                comments = []
            }
        }
        sections[sections.count - 1].lines += comments
        return sections
    }
}
