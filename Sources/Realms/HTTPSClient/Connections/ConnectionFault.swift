// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL
internal import OpenSSLKit

/// Describes the errors of a connection.
enum ConnectionFault {
    /// Returns the code and the cause of an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isOpen: True if the TLS handshake was complete.
    /// - Returns: The code and the cause.
    static func describe(_ error: any Error, isOpen: Bool) -> (code: HTTPSClientError.Code, cause: String) {
        switch error {
        case let error as NIOOpenSSLError where error.code == .handshakeTimeout:
            (.connectTimedOut, "the TLS handshake was not complete in time")
        case let error as NIOOpenSSLError where error.cause?.code == .certificateRejected:
            (.certificateRejected, certificateFault(error))
        case let error as RequestEncoder.TooManyBytes:
            (.responseTooLarge, "the response has more than \(error.maximum) bytes in all")
        case HTTPParserError.headerOverflow: (.responseHeadTooLarge, "the fields of the response are too long")
        case HTTPParserError.invalidEOFState:
            (.connectionClosed, "the server closed the connection before the response was complete")
        case is HTTPParserError, is NIOHTTPDecoderError: (.malformedResponse, "the response is not HTTP/1.1: \(error)")
        case let error as IOError:
            (isOpen ? .connectionClosed : .connectFailed, "the connection failed: \(systemReason(error) ?? "\(error)")")
        case _: (isOpen ? .connectionClosed : .connectFailed, "\(error)")
        }
    }

    /// Returns the reason of the operating system for a failed system call; nil for another error.
    static func systemReason(_ error: any Error) -> String? {
        (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) }
    }

    /// Returns whether this program, or its system, has no more resources for a connection.
    static func isLoad(_ error: any Error) -> Bool {
        (error as? IOError).map { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains($0.errnoCode) } ?? false
    }

    private static func certificateFault(_ error: NIOOpenSSLError) -> String {
        // The last reason is the result of the verification.
        "the server's certificate was rejected: \(error.cause?.reasons.last ?? "\(error)")"
    }
}
