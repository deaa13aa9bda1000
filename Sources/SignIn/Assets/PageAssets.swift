// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The script and the style sheet of the pages.
///
/// The build embeds both in the program.
enum PageAssets {
    /// The script `session.js`.
    ///
    /// The script shows a notice before a session ends, and again when the session has ended.
    ///
    /// The pages also work without the script.
    static let script = String(decoding: PackageResources.session_js, as: UTF8.self)
    /// The style sheet `style.css`.
    static let stylesheet = String(decoding: PackageResources.style_css, as: UTF8.self)
}
