// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOHPACK

/// Converts the fields of responses to the form of HTTP/2 (RFC 9113 section 8.3.2).
enum HTTP2Fields {
    /// Returns `:status` and the fields, with names in lower case; fields that only HTTP/1 has are left out.
    static func fields(of response: HTTPResponse) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(response.headerFields.count + 2)
        fields.add(name: ":status", value: String(response.status.code))
        for field in response.headerFields {
            let name = field.name.canonicalName
            guard !isConnectionSpecific(name) else { continue }
            // Session cookies and identity tokens are kept out of the compression table (RFC 7541 section 7.1.3).
            let isSecret = name == "set-cookie" || name == "remote-token"
            fields.add(name: name, value: field.value, indexing: isSecret ? .neverIndexed : .indexable)
        }
        return fields
    }

    /// Returns whether a field is not allowed in HTTP/2, RFC 9113 section 8.2.2.
    private static func isConnectionSpecific(_ name: String) -> Bool {
        switch name {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }
}
