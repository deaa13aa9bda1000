// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import HTTPTypes
internal import RealmConfiguration
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
        let lines: [Message] = [.verbatim("Rejected: \(fault.reason).")]
        return switch status {
        case .uriTooLong:
            Page(status: status, title: Message(.addressTooLong), lines: lines + [Message(.shortenAddress)])
        case .requestHeaderFieldsTooLarge:
            Page(status: status, title: Message(.fieldsTooLarge), lines: lines + [Message(.deleteCookies)])
        default:
            Page(
                status: status,
                title: status.reasonPhrase.isEmpty ? Message(.badRequest) : .verbatim(status.reasonPhrase),
                lines: lines
            )
        }
    }
}
