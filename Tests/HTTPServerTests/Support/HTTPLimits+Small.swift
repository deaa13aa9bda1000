// SPDX-License-Identifier: Apache-2.0

import HTTPLimits

extension HTTPLimits {
    /// Small limits, which tests exceed with little data.
    static var small: HTTPLimits {
        var limits = HTTPLimits()
        limits.requestLine = 64
        limits.fieldLine = 48
        limits.fieldCount = 8
        limits.header = 256
        limits.body = 64
        return limits
    }
}
