// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore

@testable import HTTPServer

/// Answers every request at once with its method and target.
struct Echo: Responder {
    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        .immediate(
            PreparedResponse(HTTPResponse(status: .ok), body: ByteBuffer(string: "\(head.methodText) \(head.target)"))
        )
    }
}

extension Responder {
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        PreparedResponse(
            HTTPResponse(status: HTTPResponse.Status(code: fault.status)),
            body: ByteBuffer(string: fault.reason)
        )
    }
}

/// Answers each request with the result of a closure.
struct ScriptedResponder: Responder {
    let reply: @Sendable (_ method: String, _ target: String) -> ResponseMode

    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        reply(head.methodText, head.target)
    }
}

extension PreparedResponse {
    /// Makes a response of status 200 with a text.
    static func text(_ text: String) -> PreparedResponse {
        PreparedResponse(HTTPResponse(status: .ok), body: ByteBuffer(string: text))
    }
}
