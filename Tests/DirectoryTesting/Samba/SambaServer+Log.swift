// SPDX-License-Identifier: Apache-2.0

extension SambaServer {
    /// A search as the server has read it.
    package struct Search: Sendable, Hashable {
        package let base: String
        /// `BASE`, `ONE` or `SUB`.
        package let scope: String
        /// The filter; the server escapes some characters of its values, also spaces.
        package let filter: String
    }

    /// The searches so far.
    package var searches: [Search] {
        received.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/ *ldb_request (BASE|ONE|SUB) dn=(.*?) filter=(.*)/#).map {
                Search(base: String($0.2), scope: String($0.1), filter: String($0.3))
            }
        }
    }
}
