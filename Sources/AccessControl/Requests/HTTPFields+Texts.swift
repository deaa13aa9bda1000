// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
package import HTTPTypes

extension HTTPFields {
    /// Returns the values of all fields of a name, in order, as texts that are compared byte by byte.
    ///
    /// - Parameter name: The fields' name.
    /// - Returns: The values; none if there is no such field.
    package func texts(of name: HTTPField.Name) -> [UTF8Text] { self[values: name].map { UTF8Text($0) } }
}
