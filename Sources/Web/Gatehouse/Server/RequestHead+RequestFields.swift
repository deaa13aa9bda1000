// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer

extension RequestHead: RequestFields {
    package var hostText: String { host }

    package func forEachCookieField(_ body: (Span<UInt8>) -> Void) { forEach(.cookie, body) }
}
