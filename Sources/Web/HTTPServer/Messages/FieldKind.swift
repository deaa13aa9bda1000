// SPDX-License-Identifier: Apache-2.0

internal import Bytes

extension RequestHead {
    /// The kinds of fields that the server reads without making strings.
    public enum FieldKind: UInt8, Sendable, Hashable {
        /// Accept, RFC 9110 section 12.5.1.
        case accept
        /// Accept-Language, RFC 9110 section 12.5.4.
        case acceptLanguage
        /// Authorization, RFC 9110 section 11.6.2.
        case authorization
        /// Connection, RFC 9110 section 7.6.1.
        case connection
        /// Content-Length, RFC 9110 section 8.6.
        case contentLength
        /// Cookie, RFC 6265 section 4.2.
        case cookie
        /// Expect, RFC 9110 section 10.1.1.
        case expect
        /// Host, RFC 9110 section 7.2.
        case host
        /// Transfer-Encoding, RFC 9112 section 6.1.
        case transferEncoding
        /// Any other field.
        case other

        /// Finds the kind of a field by its name, in upper or lower case.
        init(_ name: Span<UInt8>) {
            switch name.count {
            case 4 where name.equalsIgnoringCase("host"): self = .host
            case 6 where name.equalsIgnoringCase("accept"): self = .accept
            case 6 where name.equalsIgnoringCase("cookie"): self = .cookie
            case 6 where name.equalsIgnoringCase("expect"): self = .expect
            case 10 where name.equalsIgnoringCase("connection"): self = .connection
            case 13 where name.equalsIgnoringCase("authorization"): self = .authorization
            case 14 where name.equalsIgnoringCase("content-length"): self = .contentLength
            case 15 where name.equalsIgnoringCase("accept-language"): self = .acceptLanguage
            case 17 where name.equalsIgnoringCase("transfer-encoding"): self = .transferEncoding
            default: self = .other
            }
        }
    }
}
