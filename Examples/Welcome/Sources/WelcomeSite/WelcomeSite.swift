// SPDX-License-Identifier: Apache-2.0

public import Hummingbird
public import HummingbirdRealms
internal import RealmKit

/// Returns the routes of the site, with their access rules.
///
/// - Parameter realms: The realms that authenticate users.
/// - Returns: The router.
/// - Throws: ``RealmError`` when the configuration does not have a realm of the sign-in page.
public func makeRouter(_ realms: Realms) throws -> Router<BasicRealmRequestContext> {
    let router = Router(context: BasicRealmRequestContext.self)
    router.add(middleware: SignInPages(realms))
    router.add(middleware: try RealmAuthenticator(realms))

    router.get("/") { _, context in
        HTML(title: "Front page", text: context.user.map { "You are \($0.username)." } ?? "You are not signed in.")
    }
    router.group("welcome").add(middleware: RequireGroup("User")).get { _, context in
        HTML(title: "Welcome", text: "Welcome \(try context.requireUser().username)")
    }
    router.group("staff").add(middleware: RequireGroup("Staff")).get { _, _ in
        HTML(title: "Staff", text: "The key is under the mat.")
    }
    router.group("me").add(middleware: RequireUser()).get { _, context in
        let user = try context.requireUser()
        return Me(user: user.username.text, realm: user.realm, groups: user.groups)
    }
    return router
}

/// The response of `/me`.
struct Me: ResponseEncodable {
    let user: String
    let realm: String
    let groups: [String]
}
