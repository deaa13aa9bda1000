// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The script and the style sheet of the pages, which the build embeds in the program.
enum PageAssets {
    /// The script `session.js`, which shows that a session is about to end or has ended.
    ///
    /// The pages work without it.
    static let script = String(decoding: PackageResources.session_js, as: UTF8.self)
    /// The style sheet `style.css`.
    static let stylesheet = String(decoding: PackageResources.style_css, as: UTF8.self)
}
