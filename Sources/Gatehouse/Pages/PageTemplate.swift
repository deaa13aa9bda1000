// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Mustache

/// The frame of all pages and its stylesheet.
enum PageTemplate {
    /// The page; every `{{name}}` is escaped for HTML.
    static let compiled: MustacheTemplate = {
        do {
            return try MustacheTemplate(string: source)
        } catch {
            // The text is a constant, compiled by the first test.
            preconditionFailure("the page template does not parse: \(error)")
        }
    }()

    private static let source = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{title}} - Gatehouse</title>
        <link rel="stylesheet" href="/style.css">
        </head>
        <body>
        <main>
        {{#status}}<p class="status">{{.}}</p>
        {{/status}}<h1>{{title}}</h1>
        {{#lines}}<p>{{.}}</p>
        {{/lines}}{{#hasFacts}}<dl>
        {{#facts}}<dt>{{#isLink}}<a href="{{name}}">{{name}}</a>{{/isLink}}{{^isLink}}{{name}}{{/isLink}}</dt>\
        {{#values}}<dd>{{.}}</dd>{{/values}}
        {{/facts}}</dl>
        {{/hasFacts}}</main>
        <footer>Gatehouse</footer>
        </body>
        </html>

        """

    /// The stylesheet, served as `/style.css`.
    static let stylesheet = """
        :root { color-scheme: light dark; --ink: #1d2433; --soft: #5a6275; --paper: #f4f5f8; --card: #fff; --line: #d9dde6;
          --accent: #1f5fbf; --bad: #a8321f; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e7eaf1; --soft: #a5adbf; --paper: #13161d; --card: #1c212b;
          --line: #333b49; --accent: #8ab4f8; --bad: #ff9c87; } }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
          justify-content: center; background: var(--paper); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { width: min(34rem, 92vw); padding: 2rem 2.25rem; background: var(--card); border: 1px solid var(--line);
          border-radius: .75rem; overflow-wrap: anywhere; }
        h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; }
        p { margin: .5rem 0; color: var(--soft); }
        .status { margin: 0; font-weight: 600; color: var(--bad); letter-spacing: .05em; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 1.25rem 0 0;
          padding-top: 1.25rem; border-top: 1px solid var(--line); }
        dt { color: var(--soft); grid-column: 1; } dd { margin: 0; grid-column: 2; }
        a { color: var(--accent); } footer { margin: 1rem; font-size: .85rem; color: var(--soft); }

        """
}
