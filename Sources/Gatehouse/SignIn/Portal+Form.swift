// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HummingbirdCore
internal import NIOCore

/// What the forms of all pages have in common.
extension Portal {
    /// A form that was sent, or what its sender is told instead.
    enum Form {
        case fields(FormFields)
        case refused(Response)
    }

    /// Reads the form in a request's body: 415 for another type, 413 for one that is too long, 400 for what is none.
    func form(_ request: WebRequest) async -> Form {
        guard request.isForm else { return .refused(render(.unsupported, request)) }
        guard let body = await request.collectedBody() else { return .refused(render(.tooLarge, request)) }
        do throws(BadFields) {
            return .fields(try FormFields(body.readableBytesUInt8Span))
        } catch {
            return .refused(render(.badRequest(error.description), request))
        }
    }
}
