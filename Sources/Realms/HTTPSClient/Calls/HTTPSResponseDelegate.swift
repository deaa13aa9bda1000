// SPDX-License-Identifier: Apache-2.0

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
