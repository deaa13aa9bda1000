// SPDX-License-Identifier: Apache-2.0

/// A format of users of another product.
package enum UserImportFormat: Sendable {
    /// The file `users_database.yml` of Authelia.
    case authelia
    /// The export of a realm of Keycloak.
    case keycloak
    /// The file `tomcat-users.xml` of Tomcat, with the algorithms of its credential handlers.
    case tomcat([TomcatAlgorithm])
    /// The file `realm.properties` of Jetty.
    case jetty
    /// The file `mgmt-users.properties` or `application-users.properties` of WildFly, with the file of groups or roles.
    case wildfly(RoleFile?)

    /// A file `mgmt-groups.properties` or `application-roles.properties` of WildFly.
    package struct RoleFile: Sendable {
        let bytes: [UInt8]
        let name: String

        /// Creates a file.
        ///
        /// - Parameters:
        ///   - bytes: The file.
        ///   - name: The name of the file, for places.
        package init(bytes: [UInt8], name: String) {
            self.bytes = bytes
            self.name = name
        }
    }

    /// Reads the users of a file.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - name: The name of the file, for places.
    /// - Returns: The users.
    /// - Throws: ``BadUserFile`` with the place of the first error, if the file is not in this format.
    package func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        switch self {
        case .authelia: try AutheliaUsers.read(bytes, name: name)
        case .keycloak: try KeycloakUsers.read(bytes, name: name)
        case .tomcat(let algorithms): try TomcatUsers(algorithms: algorithms).read(bytes, name: name)
        case .jetty: try JettyUsers.read(bytes, name: name)
        case .wildfly(let roles): try WildFlyUsers.read(bytes, name: name, roles: roles)
        }
    }
}
