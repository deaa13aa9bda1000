// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import Hummingbird

/// The header fields that keep caches from serving the response for one user to another.
///
/// Source: RFC 9111 section 5.2.2, RFC 9110 section 12.5.5.
enum CacheHeaders {
    private static let credentialFields = ["Authorization", "Cookie"]

    /// Sets the header fields for caches in the response to a request that was checked for a user.
    ///
    /// - Parameters:
    ///   - isPersonal: True if the request is authenticated.
    ///   - respond: Makes the response.
    /// - Returns: The response with `Vary`, and for a user with `Cache-Control: no-store` unless it is `private`.
    /// - Throws: The error of `respond`; an `HTTPError` gets the same header fields.
    static func marking(isPersonal: Bool, _ respond: () async throws -> Response) async throws -> Response {
        do {
            var response = try await respond()
            mark(&response.headers, isPersonal)
            return response
        } catch var error as HTTPError {
            mark(&error.headers, isPersonal)
            throw error
        }
    }

    static func mark(_ headers: inout HTTPFields, _ isPersonal: Bool) {
        let varying = names(headers[values: .vary])
        if !varying.contains("*") {
            let missing = credentialFields.filter { name in !varying.contains { $0 == name.lowercased() } }
            if !missing.isEmpty { headers.append(HTTPField(name: .vary, value: missing.joined(separator: ", "))) }
        }
        guard isPersonal else { return }
        let control = names(headers[values: .cacheControl])
        guard !control.contains("no-store"), !control.contains("private") else { return }
        headers[.cacheControl] = "no-store"
    }

    private static func names(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { name in
            String(name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }).lowercased()
        }
    }
}
