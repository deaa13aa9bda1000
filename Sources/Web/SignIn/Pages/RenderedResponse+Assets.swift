// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
internal import NIOCore
internal import RealmConfiguration

/// The files that pages load.
///
/// The build embeds all files except the logo in the program. The pages also work without the script.
extension RenderedResponse {
    private static let style = ByteBuffer(bytes: PackageResources.style_css)

    /// The response with an asset; nil if there is no such asset.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - context: The context of the configuration.
    ///   - language: The index of the translation.
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
        // After an update, pages need their new style sheet and script soon. A new key of identity tokens may be used after
        // this time.
        let maximumAge = asset == .identityKeys ? 300 : 3600
        var headers: HTTPFields = [.contentType: type, .cacheControl: "max-age=\(maximumAge)"]
        if asset == .script { headers[.vary] = "Accept-Language" }
        context.security.add(to: &headers, for: asset == .logo ? .image : .plain)
        self.init(HTTPResponse(status: .ok, headerFields: headers), body: body)
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
