// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The status and the fields of a response.
///
/// The fields come from outside. Their values may contain any text without line breaks.
public struct HTTPSResponse: Sendable {
    /// The status code, 200 to 599.
    public let status: Int
    /// The fields in the order in which they arrived.
    public let fields: [(name: String, value: String)]

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The fields.
    public init(status: Int, fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields
    }

    /// The values of all fields of a name.
    ///
    /// - Parameter name: The name, in any case.
    public subscript(name: String) -> [String] {
        fields.filter { $0.name.utf8Span.span.equalsIgnoringCase(name.utf8Span.span) }.map(\.value)
    }
}

/// A response with its whole body.
public struct CollectedResponse: Sendable {
    /// The status and the fields.
    public let response: HTTPSResponse
    /// The body.
    public let body: [UInt8]
}

/// The receiver of a response, which is called while the response arrives.
///
/// The calls come in this order: ``didReceive(_:)-(HTTPSResponse)`` once, ``didReceive(_:)-([UInt8])`` for each part of
/// the body, and ``didFinish()`` once. In place of any of them, ``didFail(_:)`` may come; it is then the last call. Every
/// request ends with exactly one call of ``didFinish()`` or ``didFail(_:)``.
///
/// The calls are made one after the other, in the task that called ``HTTPSClient/send(_:to:)``. While a call runs, at
/// most 128 KiB of further parts are received; the server then has to wait.
public protocol HTTPSResponseDelegate {
    /// Receives the status and the fields.
    ///
    /// - Parameter response: The status and the fields. Any status is possible; redirects are not followed.
    /// - Returns: Whether the body is wanted.
    func didReceive(_ response: HTTPSResponse) async -> ResponseProgress

    /// Receives the next part of the body.
    ///
    /// - Parameter part: One or more bytes.
    /// - Returns: Whether more parts are wanted.
    func didReceive(_ part: [UInt8]) async -> ResponseProgress

    /// Receives the end of a complete response.
    func didFinish() async

    /// Receives the error that ended the request; no complete response was received.
    ///
    /// - Parameter error: The error.
    func didFail(_ error: HTTPSClientError) async
}

/// The answer of a delegate: whether it wants the rest of the response.
public enum ResponseProgress: Sendable, Hashable {
    /// The response continues.
    case proceed
    /// The connection is closed, and the request fails with the code `stopped`.
    case stop
}

final class ResponseCollector: HTTPSResponseDelegate {
    private let maximumBody: Int
    private var response: HTTPSResponse?
    private var body: [UInt8] = []
    private(set) var result: Result<CollectedResponse, HTTPSClientError> = .failure(
        HTTPSClientError(.connectionClosed, "there is no response")
    )

    init(maximumBody: Int) { self.maximumBody = maximumBody }

    func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
        self.response = response
        return .proceed
    }

    func didReceive(_ part: [UInt8]) async -> ResponseProgress {
        guard body.count + part.count <= maximumBody else { return .stop }
        body += part
        return .proceed
    }

    func didFinish() async {
        guard let response else { return }
        result = .success(CollectedResponse(response: response, body: body))
    }

    func didFail(_ error: HTTPSClientError) async {
        guard error.code == .stopped else {
            result = .failure(error)
            return
        }
        let cause = "the body is longer than \(maximumBody) bytes"
        result = .failure(HTTPSClientError(.responseTooLarge, cause, mayHaveReachedServer: true))
    }
}
