// SPDX-License-Identifier: Apache-2.0

/// The name of a text on the pages of the server.
///
/// The raw value is the name in a translation file. The built-in translations have a text for every name.
package enum MessageKey: String, Sendable, Hashable, CaseIterable {
    // MARK: The frame of all pages
    case direction
    case errorTitle = "error-title"
    case help
    case `continue`
    case tryAgain = "try-again"

    // MARK: The sign-in page
    case signIn = "sign-in"
    case signInTo = "sign-in-to"
    case userName = "user-name"
    case password
    case showPassword = "show-password"
    case hidePassword = "hide-password"
    case capsLockOn = "caps-lock-on"
    case pleaseWait = "please-wait"
    case continueAs = "continue-as"
    case alreadySignedIn = "already-signed-in"

    // MARK: The notices above the form
    case rejected
    case lockedAfterFailures = "locked-after-failures"
    case expired
    case signedOutNotice = "signed-out-notice"
    case unavailableNotice = "unavailable-notice"
    case full
    case accountChanged = "account-changed"

    // MARK: The page for the questions of a login
    case oneMoreStep = "one-more-step"
    case signingInAs = "signing-in-as"
    case signingInToAs = "signing-in-to-as"
    case oneTimeCode = "one-time-code"
    case codeRejected = "code-rejected"
    case beginAgain = "begin-again"

    // MARK: Redirects and rejected credentials
    case pleaseSignIn = "please-sign-in"
    case pleaseSignInSentence = "please-sign-in-sentence"
    case signInFailed = "sign-in-failed"
    case invalidCredentials = "invalid-credentials"
    case signInToOpen = "sign-in-to-open"

    // MARK: The hand-over from the sign-in host
    case cookiesNeeded = "cookies-needed"
    case cookieNotSent = "cookie-not-sent"
    case allowCookies = "allow-cookies"
    case handOverFailed = "hand-over-failed"
    case linkExpired = "link-expired"
    case signInAt = "sign-in-at"
    case onlyAtHost = "only-at-host"
    case continueAt = "continue-at"

    // MARK: The sign-out and the account page
    case signOut = "sign-out"
    case signOutQuestion = "sign-out-question"
    case youAreSignedInAs = "you-are-signed-in-as"
    case youAreSignedOut = "you-are-signed-out"
    case keepSession = "keep-session"
    case signInAsAnotherUser = "sign-in-as-another-user"
    case yourAccount = "your-account"
    case yourSessions = "your-sessions"
    case thisSession = "this-session"
    case sessionAt = "session-at"
    case sessionAtFrom = "session-at-from"
    case sessionSince = "session-since"
    case sessionLastUsed = "session-last-used"
    case end
    case endSessionOn = "end-session-on"
    case endOtherSessions = "end-other-sessions"
    case device
    case unknownDevice = "unknown-device"
    case signedInAsUser = "signed-in-as-user"
    case signedInAs = "signed-in-as"
    case realm
    case group
    case groups

    // MARK: The index and the welcome page
    case welcome
    case protectedHere = "protected-here"
    case nothingProtected = "nothing-protected"
    case realms

    // MARK: Refusals
    case accessDenied = "access-denied"
    case userNotAllowed = "user-not-allowed"
    case addressNotAllowed = "address-not-allowed"
    case askAdministrator = "ask-administrator"
    case requestDenied = "request-denied"
    case certificateNeeded = "certificate-needed"
    case onlyCertificates = "only-certificates"
    case noCertificate = "no-certificate"
    case otherSite = "other-site"
    case enterAddress = "enter-address"
    case badRequest = "bad-request"
    case notUnderstood = "not-understood"
    case goBack = "go-back"
    case ambiguousPath = "ambiguous-path"
    case invalidHost = "invalid-host"
    case formOfOtherSession = "form-of-other-session"
    case unknownHost = "unknown-host"
    case misdirected
    case wrongConnection = "wrong-connection"
    case tooLarge = "too-large"
    case bodyTooLarge = "body-too-large"
    case addressTooLong = "address-too-long"
    case shortenAddress = "shorten-address"
    case fieldsTooLarge = "fields-too-large"
    case deleteCookies = "delete-cookies"
    case notFound = "not-found"
    case noSuchPage = "no-such-page"
    case checkAddress = "check-address"
    case methodNotAllowed = "method-not-allowed"
    case methodNotAccepted = "method-not-accepted"
    case useMethods = "use-methods"
    case unsupportedType = "unsupported-type"
    case typeNotSupported = "type-not-supported"
    case tryLater = "try-later"
    case cannotSignIn = "cannot-sign-in"
    case pleaseTryLater = "please-try-later"
    case endNotStored = "end-not-stored"
    case sessionEndNotStored = "session-end-not-stored"
    case tellAdministrator = "tell-administrator"

    // MARK: The script of pages with a session
    case signedOut = "signed-out"
    case signInAgain = "sign-in-again"
    case staySignedIn = "stay-signed-in"
    case close
    case sessionEndsIn = "session-ends-in"
    case ended
    case endedLogout = "ended-logout"
    case endedIdle = "ended-idle"
    case endedAbsolute = "ended-absolute"
    case endedAdministrator = "ended-administrator"
    case endedEndedElsewhere = "ended-ended-elsewhere"
    case endedUserChanged = "ended-user-changed"
    case endedRealmGone = "ended-realm-gone"
    case endedLimit = "ended-limit"
    case endedReplaced = "ended-replaced"
}
