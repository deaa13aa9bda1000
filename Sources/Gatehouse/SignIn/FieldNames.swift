// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes

extension HTTPField.Name {
    /// A name that is spelled out here.
    static func known(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name(name.description) else {
            // The name is a constant, made by the first test.
            preconditionFailure("\(name) is no field name")
        }
        return name
    }

    static let remoteUser = known("Remote-User")
    static let remoteGroups = known("Remote-Groups")
    static let remoteRealm = known("Remote-Realm")
    static let clearSiteData = known("Clear-Site-Data")
    static let lastEventID = known("Last-Event-ID")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let xAccelBuffering = known("X-Accel-Buffering")
    static let xForwardedFor = known("X-Forwarded-For")
    static let xForwardedHost = known("X-Forwarded-Host")
    static let xRequestedWith = known("X-Requested-With")
}
