// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The header fields that prevent caches from sending a response for one user to another user.
///
/// Source: RFC 9111 section 5.2.2, RFC 9110 section 12.5.5.
enum CacheHeaders {
    private static let credentialFields = ["Authorization", "Cookie"]

    /// Makes a response, and adds the header fields.
    ///
    /// - Parameters:
    ///   - isPersonal: True if the request is authenticated.
    ///   - respond: Makes the response.
    /// - Returns: The response with `Vary`. A personal response also gets `Cache-Control: no-store`, unless its
    ///   `Cache-Control` already contains `no-store` or `private`.
    /// - Throws: The error of `respond`. If it is an `HTTPError`, the header fields are added to it.
    static func add(isPersonal: Bool, _ respond: () async throws -> Response) async throws -> Response {
        do {
            var response = try await respond()
            add(to: &response.headers, isPersonal: isPersonal)
            return response
        } catch var error as HTTPError {
            add(to: &error.headers, isPersonal: isPersonal)
            throw error
        }
    }

    static func add(to headers: inout HTTPFields, isPersonal: Bool) {
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
