// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import LoginConf

/// Reads the `limits` block of the `server` block.
struct LimitsReader {
    let builder: ConfigurationBuilder

    private static let keywords = HTTPLimits.settings.map(\.name)

    func read(_ statement: Statement) -> HTTPLimits {
        var limits = HTTPLimits()
        guard let statements = builder.block(statement) else { return limits }
        let block = Block(statements, of: "limits", Self.keywords, in: builder)
        let scalars = SettingReader(builder: builder, block: block)
        for setting in HTTPLimits.settings {
            switch setting.value {
            case .integer(let limit, let bounds): scalars.integer(setting.name, bounds, into: &limits[keyPath: limit])
            case .duration(let limit, let bounds): scalars.duration(setting.name, bounds, into: &limits[keyPath: limit])
            }
        }
        return limits
    }
}
