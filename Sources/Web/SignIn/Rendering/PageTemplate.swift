// SPDX-License-Identifier: Apache-2.0

internal import Mustache

/// The templates of all pages; every `{{name}}` is escaped for HTML.
enum PageTemplate {
    /// The frame of every page.
    ///
    /// The other templates render `parts`, so `parts` is not escaped again. The script within the page is not escaped,
    /// because HTML has no escapes in scripts; its texts are escaped in JSON. The icon is a constant without special
    /// characters.
    static let frame = compiled(
        """
        <!DOCTYPE html>
        <html lang="{{language}}" dir="{{text.direction}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{windowTitle}}{{#titleBrand}} - {{.}}{{/titleBrand}}</title>
        <link rel="icon" href="{{{icon}}}">
        <link rel="stylesheet" href="{{style}}">
        {{#script}}<script src="{{.}}" data-prefix="{{prefix}}" defer></script>
        {{/script}}</head>
        <body>
        <main>
        {{#logo}}<img class="logo" src="{{.}}" alt="{{brand}}">
        {{/logo}}{{#status}}<p class="status">{{.}}</p>
        {{/status}}<h1>{{title}}</h1>
        {{#lines}}<p>{{.}}</p>
        {{/lines}}{{#hasFacts}}<dl>
        {{#facts}}<dt>{{#isLink}}<a href="{{name}}">{{name}}</a>{{/isLink}}{{^isLink}}{{name}}{{/isLink}}</dt>\
        {{#values}}<dd>{{.}}</dd>{{/values}}
        {{/facts}}</dl>
        {{/hasFacts}}{{#parts}}{{{.}}}{{/parts}}</main>
        <footer>{{brand}}{{#footer}}<br>{{.}}{{/footer}}{{#help}}<br><a href="{{link}}">{{label}}</a>{{/help}}</footer>
        {{#inlineScript}}<script>{{{.}}}</script>
        {{/inlineScript}}</body>
        </html>

        """
    )

    static let notice = compiled(
        """
        {{#isError}}<p class="notice error" role="alert" id="notice">{{notice}}</p>
        {{/isError}}{{^isError}}<p class="notice" role="status" id="notice">{{notice}}</p>
        {{/isError}}
        """
    )

    static let signIn = compiled(
        """
        <form method="post" action="{{action}}">
        <input type="hidden" name="ticket" value="{{ticket}}">
        <label for="username">{{text.user-name}}</label>
        <input id="username" name="username" type="text" autocomplete="username" autocapitalize="none" \
        autocorrect="off" spellcheck="false" required value="{{username}}"{{#described}} \
        aria-describedby="notice"{{/described}}{{#rejected}} aria-invalid="true"{{/rejected}}{{^hasName}} autofocus{{/hasName}}>
        <label for="password">{{text.password}}</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required\
        {{#described}} aria-describedby="notice"{{/described}}{{#rejected}} aria-invalid="true"{{/rejected}}\
        {{#hasName}} autofocus{{/hasName}}>
        <button type="submit">{{text.sign-in}}</button>
        </form>

        """
    )

    static let step = compiled(
        """
        <form method="post" action="{{action}}">
        <input type="hidden" name="number" value="{{number}}">
        {{#questions}}{{#message}}<p>{{message}}</p>
        {{/message}}{{#prompt}}<label for="{{id}}">{{prompt}}</label>
        <input id="{{id}}" name="{{id}}" type="{{type}}" autocomplete="{{autocomplete}}"{{#isCode}} \
        inputmode="numeric"{{#rejected}} aria-invalid="true" aria-describedby="notice"{{/rejected}}{{/isCode}} \
        autocapitalize="none" autocorrect="off" spellcheck="false" required\
        {{#isFirst}} autofocus{{/isFirst}}>
        {{/prompt}}{{/questions}}<button type="submit">{{text.continue}}</button>
        </form>
        <p><a href="{{cancel}}">{{text.begin-again}}</a></p>

        """
    )

    static let link = compiled(
        """
        <p><a href="{{target}}">{{label}}</a></p>

        """
    )

    static let signOut = compiled(
        """
        <form method="post" action="{{action}}" class="inline">
        <input type="hidden" name="csrf" value="{{csrf}}">
        {{#target}}<button type="submit" name="return" value="{{.}}">{{text.sign-in-as-another-user}}</button>
        {{/target}}<button type="submit"{{#isSecondary}} class="secondary"{{/isSecondary}}>{{text.sign-out}}</button>
        {{#account}}<a href="{{.}}">{{text.your-account}}</a>
        {{/account}}
        </form>

        """
    )

    static let sessions = compiled(
        """
        <h2>{{text.your-sessions}}</h2>
        <ul class="sessions">
        {{#sessions}}<li>
        <div><strong>{{device}}</strong>{{#isCurrent}} <span class="tag">{{text.this-session}}</span>{{/isCurrent}}<br>
        <small>{{place}}, {{text.session-since}} <time datetime="{{created}}">{{createdText}}</time>\
        <br>{{text.session-last-used}} <time datetime="{{lastSeen}}">{{lastSeenText}}</time></small></div>
        {{^isCurrent}}<form method="post" action="{{action}}"><input type="hidden" name="csrf" value="{{csrf}}">\
        <input type="hidden" name="id" value="{{id}}"><button type="submit" class="secondary" aria-label="{{label}}">\
        {{text.end}}</button></form>{{/isCurrent}}
        </li>
        {{/sessions}}</ul>
        {{#hasOthers}}<form method="post" action="{{action}}" class="inline"><input type="hidden" name="csrf" \
        value="{{csrf}}"><input type="hidden" name="others" value="all"><button type="submit" class="secondary">\
        {{text.end-other-sessions}}</button></form>
        {{/hasOthers}}
        """
    )

    static func compiled(_ source: String) -> MustacheTemplate {
        do {
            return try MustacheTemplate(string: source)
        } catch {
            // The text is a constant, so the tests find a template that does not compile.
            preconditionFailure("a page template does not parse: \(error)")
        }
    }
}
