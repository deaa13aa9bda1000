// SPDX-License-Identifier: Apache-2.0

extension SlapdServer {
    /// A search as the server has read it.
    package struct Search: Sendable, Hashable {
        package let base: String
        /// 0 for the base, 1 for one level, 2 for the subtree.
        package let scope: Int
        /// The filter; the server escapes the characters `*`, `(`, `)`, and `\` of its values.
        package let filter: String
    }

    /// The searches so far.
    package var searches: [Search] {
        received.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: #/ SRCH base="(.*)" scope=([0-3]) deref=[0-3] filter="(.*)"/#) else {
                return nil
            }
            return Search(base: String(match.1), scope: Int(match.2) ?? 0, filter: String(match.3))
        }
    }

    /// The names of the binds so far, also of those that failed.
    package var binds: [String] {
        received.split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/ BIND dn="(.*)" method=/#).map { String($0.1) }
        }
    }
}
