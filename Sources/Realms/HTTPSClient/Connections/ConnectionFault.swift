// SPDX-License-Identifier: Apache-2.0

internal import LibC
internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit

/// The errors of connections as codes and causes of an ``HTTPSClientError``.
enum ConnectionFault {
    /// Returns the code and the cause of an error before the connection was open.
    static func whileConnecting(_ error: any Error) -> (code: HTTPSClientError.Code, cause: String) {
        let causes = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        if let cause = causes.first(where: isLoad) {
            return (.tooManyRequests, "cannot connect: \(systemReason(cause) ?? "\(cause)")")
        }
        guard let error = error as? NIOConnectionError else {
            if case ChannelError.connectTimeout = error { return (.connectTimedOut, "no connection was open in time") }
            return (.connectFailed, "\(error)")
        }
        guard let first = error.connectionErrors.first else {
            return (.nameNotResolved, "the host name \(error.host) has no address")
        }
        if error.connectionErrors.allSatisfy({ if case ChannelError.connectTimeout = $0.error { true } else { false } })
        {
            return (.connectTimedOut, "no connection was open in time")
        }
        guard let reason = systemReason(first.error) else { return (.connectFailed, "\(first.error)") }
        return (.connectFailed, "cannot connect: \(reason)")
    }

    /// Returns the code and the cause of an error; the TLS handshake was complete if the connection is open.
    static func describe(_ error: any Error, isOpen: Bool) -> (code: HTTPSClientError.Code, cause: String) {
        switch error {
        case let error as NIOOpenSSLError where error.code == .handshakeTimeout:
            (.connectTimedOut, "the TLS handshake was not complete in time")
        case let error as NIOOpenSSLError where error.cause?.code == .certificateRejected:
            // The last reason is the result of the verification.
            (.certificateRejected, "the server's certificate was rejected: \(error.cause?.reasons.last ?? "\(error)")")
        case let error as RequestWriter.TooManyBytes:
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
}
