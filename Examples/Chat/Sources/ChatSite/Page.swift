// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import RealmKit

/// Returns the page.
///
/// It has no inline script or style, so that its content security policy can forbid them.
func page(for user: SignedInUser, csrfToken: String) -> Response {
    let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Chat</title>
        <link rel="stylesheet" href="/chat.css">
        <script src="/chat.js" defer></script>
        </head>
        <body data-csrf-token="\(escaped(csrfToken))">
        <header>
        <h1>Chat</h1>
        <p>You are <bdi id="me">\(escaped(user.username.text))</bdi>. <a href="/account">Account</a></p>
        <form method="post" action="/sign-out">
        <input type="hidden" name="csrf" value="\(escaped(csrfToken))">
        <button>Sign out</button>
        </form>
        </header>
        <main>
        <ol id="messages" role="log" aria-label="Messages" tabindex="0"></ol>
        <p id="notice" role="status"><noscript>The chat needs JavaScript.</noscript></p>
        <form id="form">
        <label for="text">Message</label>
        <input id="text" maxlength="500" autocomplete="off" required autofocus>
        <button>Send</button>
        </form>
        </main>
        </body>
        </html>

        """
    let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "form-action 'self'",
        "base-uri 'none'", "frame-ancestors 'none'",
    ]
    let headers: HTTPFields = [
        .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy.joined(separator: "; "),
        .xContentTypeOptions: "nosniff",
    ]
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
}

/// Returns a text with the characters of HTML markup escaped.
func escaped(_ text: String) -> String {
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
