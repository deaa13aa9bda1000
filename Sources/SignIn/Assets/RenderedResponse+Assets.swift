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
    private static let script = ByteBuffer(bytes: PackageResources.session_js)
    private static let formScript = ByteBuffer(bytes: PackageResources.sign_in_js)
    private static let icon = ByteBuffer(bytes: PackageResources.icon_svg)

    /// The response with an asset; nil if there is no such asset.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - context: The context of the configuration.
    init?(_ asset: PageAsset, in context: PageContext) {
        let (body, type): (ByteBuffer, String)
        switch asset {
        case .style: (body, type) = (Self.style, "text/css; charset=utf-8")
        case .script: (body, type) = (Self.script, "text/javascript; charset=utf-8")
        case .formScript: (body, type) = (Self.formScript, "text/javascript; charset=utf-8")
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
        context.security.add(to: &headers, for: asset == .icon || asset == .logo ? .image : .plain)
        self.init(HTTPResponse(status: .ok, headerFields: headers), body: body)
    }
}
