// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The start of an element of an XML file.
struct XMLTag {
    let name: String
    let attributes: [(name: String, value: String)]
    /// The number of elements around this element.
    let depth: Int
    let line: Int

    /// Returns the value of an attribute.
    subscript(name: String) -> String? { attributes.first { $0.name.hasBytes(of: name) }?.value }
}
