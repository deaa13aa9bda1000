// SPDX-License-Identifier: Apache-2.0

import RealmKit

extension Secret {
    /// The bytes as text.
    var text: String { withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } }
}
