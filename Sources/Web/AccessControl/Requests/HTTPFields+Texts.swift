// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import HTTPTypes

extension HTTPFields {
    /// Returns the values of all fields with a name, in order.
    ///
    /// The values are compared byte by byte.
    ///
    /// - Parameter name: The name of the fields.
    /// - Returns: The values; empty if there is no such field.
    package func texts(of name: HTTPField.Name) -> [UTF8Text] { self[values: name].map { UTF8Text($0) } }
}
