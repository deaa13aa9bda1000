// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import NIOCore
internal import OpenSSLKit

/// The assets: the files that pages load, and the public keys that applications read.
///
/// The build embeds the style sheet, the scripts and the icon. The pages also work without a script.
extension RenderedResponse {
    private static let style = ByteBuffer(bytes: PackageResources.style_css)

    /// Nil if the configuration has no such asset.
    init?(_ asset: PageAsset, in context: PageContext, _ language: Int) {
        let (body, type): (ByteBuffer, String)
        switch asset {
        case .style: (body, type) = (Self.style, "text/css; charset=utf-8")
        case .script:
            let script = PageScript.text(
                PackageResources.session_js,
                keys: MessageKey.ofSessionScript,
                context.translations.all[language]
            )
            (body, type) = (ByteBuffer(string: script), "text/javascript; charset=utf-8")
        case .logo:
            guard let logo = context.brand.logo else { return nil }
            body = ByteBuffer(bytes: logo.bytes)
            switch logo.format {
            case .svg: type = "image/svg+xml"
            case .png: type = "image/png"
            }
        case .identityKeys:
            guard let keys = context.identityKeys else { return nil }
            (body, type) = (ByteBuffer(string: keys.json), IdentityKeySet.mediaType)
        }
        // After an update, pages need their new style sheet and script soon. A new key of identity tokens may be used
        // after this time.
        let maximumAge = asset == .identityKeys ? 300 : 3600
        var headers: HTTPFields = [.contentType: type, .cacheControl: "max-age=\(maximumAge)"]
        if asset == .script { headers[.vary] = "Accept-Language" }
        context.security.add(to: &headers, for: asset == .logo ? .image : .plain)
        self.init(.ok, headers, body: body)
    }
}

extension MessageKey {
    /// The texts of `session.js`.
    static let ofSessionScript: [MessageKey] =
        [.signedOut, .signInAgain, .staySignedIn, .close, .sessionEndsIn, .ended] + ends
    /// The texts of `sign-in.js`.
    static let ofFormScript: [MessageKey] = [.showPassword, .hidePassword, .capsLockOn, .pleaseWait]

    private static let ends: [MessageKey] = [
        .endedLogout, .endedIdle, .endedAbsolute, .endedAdministrator, .endedEndedElsewhere, .endedUserChanged,
        .endedRealmGone, .endedLimit, .endedReplaced,
    ]
}

enum PageScript {
    /// Returns a script with its texts in place of the name `TEXTS`, and without comments and indentation, for a source
    /// in which no string goes on in the next line.
    static func text(_ source: [UInt8], keys: [MessageKey], _ translation: Translation) -> String {
        let texts = JSONValue.sorted(
            [("language", .text(translation.language))] + keys.map { ($0.rawValue, .text(translation[$0])) }
        )
        let lines = String(decoding: source, as: UTF8.self).split(separator: "\n").map { $0.drop { $0 == " " } }
        let code = lines.filter { !$0.isEmpty && !$0.hasPrefix("//") }.joined(separator: "\n")
        let parts = code.split(separator: "TEXTS", maxSplits: 1)
        return parts.joined(separator: texts.text(.web))
    }
}

/// A script within a page, so that neither a service worker nor a file of an application at the same host can replace
/// the script that handles the password.
struct InlineScript: Sendable {
    let text: String
    /// The source expression that allows this script and no other (Content Security Policy Level 3, section 8.3).
    let policySource: String

    /// The text contains neither `</script` nor `<!--`.
    init(_ text: String) throws(OpenSSLError) {
        self.text = text
        let digest = try Digest.sha256(Array(text.utf8))
        policySource = "'sha256-\(digest.withBytes { Base64.padded.encode($0) })'"
    }

    init(ofFormIn translation: Translation) throws(OpenSSLError) {
        try self.init(PageScript.text(PackageResources.sign_in_js, keys: MessageKey.ofFormScript, translation))
    }
}

enum PageIcon {
    /// The icon of the pages as a `data` URL, so that no page needs another request for it.
    static let url: String = {
        let bytes = PackageResources.icon_svg
        let text = PercentEncoding.encode(bytes.span) { byte in
            byte >= 0x2A && byte <= 0x3B || byte == UInt8(ascii: "=")
                || ASCII.lowercased(byte) >= UInt8(ascii: "a") && ASCII.lowercased(byte) <= UInt8(ascii: "z")
        }
        return "data:image/svg+xml,\(text)"
    }()
}
