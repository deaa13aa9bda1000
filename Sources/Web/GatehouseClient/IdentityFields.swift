// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

/// The header fields `Remote-User`, `Remote-Groups`, `Remote-Realm`, `Remote-Email` and `Remote-Name` of a request.
///
/// **The fields prove nothing.** A client that reaches the application without the proxy, and every program on its machine,
/// can send any of them. Read them only if the proxy alone can reach the application. In all other cases, and best always,
/// verify the field `Remote-Token` with an ``IdentityTokenVerifier`` and read none of these fields.
public enum IdentityFields {
    /// Reads the user of a request.
    ///
    /// Each value must have the one spelling of the default `identity-fields percent`: percent-encoded with upper-case
    /// digits, except for letters, digits and `-._~@`. So two fields that a server has joined by a comma and a blank are
    /// rejected, too.
    ///
    /// ```swift
    /// let user = try IdentityFields.user { name in request.headers[name] }
    /// ```
    ///
    /// - Parameter values: Returns the values of all fields of a name, whose case does not matter.
    /// - Returns: The user; nil if `Remote-User` is missing or empty, so that no user is signed in.
    /// - Throws: ``GatehouseClientError`` if a field occurs twice, or a value is missing or has another spelling. Answer such
    ///   a request with 400 or 403: it did not come from the proxy, or the proxy is not configured as Gatehouse's files do it.
    public static func user(
        _ values: (_ name: String) -> [String]
    ) throws(GatehouseClientError) -> SignedInUser? {
        func value(_ name: String) throws(GatehouseClientError) -> [UInt8] {
            let all = values(name)
            guard all.count <= 1 else { throw GatehouseClientError("the field \(name) occurs \(all.count) times") }
            return all.first.map { Array($0.utf8) } ?? []
        }
        let user = try value("Remote-User")
        let groups = try value("Remote-Groups")
        let realm = try decoded(value("Remote-Realm")[...], "Remote-Realm")
        var attributes: [(name: String, values: [String])] = []
        for (field, name) in [("Remote-Name", UserAttribute.displayName), ("Remote-Email", UserAttribute.mail)] {
            let text = try decoded(value(field)[...], field)
            if !text.utf8.isEmpty { attributes.append((name, [text])) }
        }
        guard !user.isEmpty else { return nil }
        let names = groups.isEmpty ? [] : groups.split(separator: ASCII.comma, omittingEmptySubsequences: false)
        return try SignedInUser(
            try decoded(user[...], "Remote-User"),
            realm: realm,
            groups: try names.map { name throws(GatehouseClientError) in
                guard !name.isEmpty else { throw GatehouseClientError("the field Remote-Groups has an empty group") }
                return try decoded(name, "Remote-Groups")
            },
            attributes: attributes
        )
    }

    private static func decoded(_ value: ArraySlice<UInt8>, _ name: String) throws(GatehouseClientError) -> String {
        let bytes = Array(value)
        guard let decoded = PercentEncoding.decode(bytes.span), let text = UTF8Text(validating: decoded.span)?.string,
            PercentEncoding.encode(text, keeping: "@").utf8.elementsEqual(bytes)
        else { throw GatehouseClientError("the field \(name) is not percent-encoded as Gatehouse does it") }
        return text
    }
}
