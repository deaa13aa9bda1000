// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import HTTPTypes
internal import IdentityTokens
internal import NIOCore
internal import RealmConfiguration

/// The files that pages load.
///
/// The build embeds all files except the logo in the program. The pages also work without the scripts.
extension RenderedResponse {
    private static let style = ByteBuffer(bytes: PackageResources.style_css)
    private static let icon = ByteBuffer(bytes: PackageResources.icon_svg)

    /// The response with an asset; nil if there is no such asset.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - context: The context of the configuration.
    ///   - language: The index of the translation.
    init?(_ asset: PageAsset, in context: PageContext, _ language: Int) {
        let translation = context.translations.all[language]
        let (body, type): (ByteBuffer, String)
        switch asset {
        case .style: (body, type) = (Self.style, "text/css; charset=utf-8")
        case .script:
            body = Self.script(PackageResources.session_js, keys: MessageKey.ofSessionScript, translation)
            type = "text/javascript; charset=utf-8"
        case .formScript:
            body = Self.script(PackageResources.sign_in_js, keys: MessageKey.ofFormScript, translation)
            type = "text/javascript; charset=utf-8"
        case .icon: (body, type) = (Self.icon, "image/svg+xml")
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
        // After an update, pages need their new style sheet and scripts soon, but not a new icon. A new key of identity
        // tokens may be used after this time.
        let maximumAge =
            switch asset {
            case .icon: 86_400
            case .style, .script, .formScript, .logo: 3600
            case .identityKeys: 300
            }
        var headers: HTTPFields = [.contentType: type, .cacheControl: "max-age=\(maximumAge)"]
        if asset == .script || asset == .formScript { headers[.vary] = "Accept-Language" }
        context.security.add(to: &headers, for: asset == .icon || asset == .logo ? .image : .plain)
        self.init(HTTPResponse(status: .ok, headerFields: headers), body: body)
    }

    /// Returns a script with its texts in place of the name `TEXTS`.
    ///
    /// - Parameters:
    ///   - source: The script.
    ///   - keys: The keys of its texts.
    ///   - translation: The translation.
    /// - Returns: The script.
    private static func script(_ source: [UInt8], keys: [MessageKey], _ translation: Translation) -> ByteBuffer {
        var texts: [String: String] = ["language": translation.language]
        for key in keys { texts[key.rawValue] = translation[key] }
        let parts = String(decoding: source, as: UTF8.self).split(separator: "TEXTS", maxSplits: 1)
        return ByteBuffer(string: parts.joined(separator: JSONText.of(texts)))
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
