// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import SignIn

extension Page {
    /// Returns the response to a request that is not valid HTTP.
    ///
    /// - Parameter fault: The fault of the request.
    /// - Returns: The response.
    static func fault(_ fault: RequestFault) -> Page {
        let known: [HTTPResponse.Status] = [
            .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .expectationFailed,
            .requestHeaderFieldsTooLarge, .httpVersionNotSupported,
        ]
        let status = known.first { $0.code == fault.status } ?? HTTPResponse.Status(code: fault.status)
        return Page(
            status: status,
            title: status.reasonPhrase.isEmpty ? "Bad request" : status.reasonPhrase,
            lines: ["Rejected: \(fault.reason)."]
        )
    }
}
