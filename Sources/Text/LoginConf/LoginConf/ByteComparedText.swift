// SPDX-License-Identifier: Apache-2.0

/// A string that is compared byte by byte.
///
/// `String` treats canonically equivalent texts as equal. The JDK does not, and login.conf is compared as in the JDK.
struct ByteComparedText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: ByteComparedText, other: ByteComparedText) -> Bool {
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }
}
