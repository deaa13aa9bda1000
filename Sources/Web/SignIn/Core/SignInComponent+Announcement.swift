// SPDX-License-Identifier: Apache-2.0

internal import AccessControl

extension SignInComponent {
    /// Adds the message of the administrator to a page, if there is one.
    ///
    /// - Parameters:
    ///   - page: The page. The message comes before its other parts.
    ///   - request: The request.
    func addAnnouncement(to page: inout Page, for request: WebRequest) {
        guard let text = state.announcement.text else { return }
        if request.asHTML {
            page.parts.insert(Page.Part(PageTemplate.announcement) { _ in ["announcement": text] }, at: 0)
        } else {
            page.lines.append(.verbatim(text))
        }
    }
}

extension PageTemplate {
    /// The message of the administrator to all users.
    fileprivate static let announcement = compiled(
        """
        <p class="notice" role="note">{{announcement}}</p>

        """
    )
}
