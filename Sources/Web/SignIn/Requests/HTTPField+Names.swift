// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes

extension HTTPField.Name {
    static let clearSiteData = known("Clear-Site-Data")
    static let lastEventID = known("Last-Event-ID")
    static let secFetchDest = known("Sec-Fetch-Dest")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let xAccelBuffering = known("X-Accel-Buffering")
}
