// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes

/// Header fields that tell a browser what a page of ours may not do.
struct SecurityHeaders {
    private let fields: HTTPFields

    /// - Parameter isTrusted: Whether clients are meant to trust the certificate. Only then may they be told to come back
    ///   by TLS alone: a development server must not bind other programs on `localhost` to that.
    init(isTrusted: Bool) {
        var fields = HTTPFields()
        fields[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; "
            + "base-uri 'none'"
        fields[.xContentTypeOptions] = "nosniff"
        Self.set("Referrer-Policy", "no-referrer", in: &fields)
        Self.set("Cross-Origin-Opener-Policy", "same-origin", in: &fields)
        Self.set("Cross-Origin-Resource-Policy", "same-origin", in: &fields)
        Self.set("Permissions-Policy", "camera=(), geolocation=(), microphone=()", in: &fields)
        if isTrusted { fields[.strictTransportSecurity] = "max-age=31536000" }
        self.fields = fields
    }

    func add(to headers: inout HTTPFields) {
        headers.append(contentsOf: fields)
    }

    private static func set(_ name: String, _ value: String, in fields: inout HTTPFields) {
        if let name = HTTPField.Name(name) { fields[name] = value }
    }
}
