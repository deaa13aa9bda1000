// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// A page with a title, a text and links to the other pages.
struct HTML: ResponseGenerator {
    let title: String
    let text: String

    func response(from request: Request, context: some RequestContext) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <head><meta charset="utf-8"><title>\(Self.escaped(title))</title><link rel="stylesheet" href="/style.css"></head>
            <body><main>
            <h1>\(Self.escaped(title))</h1>
            <p>\(Self.escaped(text))</p>
            <p><a href="/">Front page</a> <a href="/welcome">Welcome</a> <a href="/staff">Staff</a> <a href="/me">Me</a>
            <a href="/account">Account</a></p>
            </main></body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .contentSecurityPolicy: "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// Returns a text with the characters of HTML markup escaped.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
