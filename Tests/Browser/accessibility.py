# SPDX-License-Identifier: Apache-2.0
"""Checks the accessibility of every page with axe, and its layout: in the light and the dark color scheme, with forced colors, in a narrow
window, at 400 %, and in German and French."""

import importlib.resources

from browser_fixture import ANN, FIRST, MALLORY, fill, scenario, expect

# axe-core. It runs in the page by the debugger, which the content security policy does not stop.
AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
# Returns the violations that axe finds as texts: all its rules, those for WCAG and for good practice.
RUN_AXE = """() => axe.run(document, {resultTypes: ["violations"]}).then(result => {
    if (result.passes.length < 5) return ["axe has checked only " + result.passes.length + " rules"];
    return result.violations.map(one => "axe " + one.id + ": " + one.help + ": " + one.nodes.map(node => node.html).join(" ").slice(0, 300));
})"""

# Checks what axe does not. Runs in the page. Returns its defects as texts. Only the script of the sign-in form is within its page, at the end.
CHECK = r"""() => {
    const wrong = [];
    const say = text => wrong.push(text);
    if (!document.documentElement.lang) say("no language");
    if (!document.title.trim()) say("no title");
    if (document.querySelectorAll("h1").length !== 1) say(document.querySelectorAll("h1").length + " h1");
    if (!document.querySelector("main, [role=main]")) say("no main");
    if (!document.querySelector('meta[name=viewport]')) say("no viewport");
    for (const one of document.querySelectorAll("[style], style, script:not([src]):not(body > script:last-child)")) say("within the page: " + one.outerHTML.slice(0, 200));
    let last = 0;
    for (const heading of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
        const level = Number(heading.tagName[1]);
        if (level > last + 1) say("heading " + level + " after " + last);
        last = level;
    }
    const ids = [...document.querySelectorAll("[id]")].map(one => one.id);
    for (const id of new Set(ids)) if (ids.filter(one => one === id).length > 1) say("id twice: " + id);
    for (const attribute of ["aria-describedby", "aria-labelledby", "for"])
        for (const one of document.querySelectorAll("[" + attribute + "]"))
            for (const id of one.getAttribute(attribute).split(/\s+/))
                if (!document.getElementById(id)) say(attribute + " names nothing: " + id);
    const visible = one => one.checkVisibility({opacityProperty: true, visibilityProperty: true});
    const name = one => (one.innerText || one.value || one.getAttribute("aria-label") || one.title || "").trim();
    for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
        if (visible(one) && !(one.labels && [...one.labels].some(name)) && !one.getAttribute("aria-label")
            && !one.getAttribute("aria-labelledby")) say("no label: " + one.name);
    for (const one of document.querySelectorAll("button, a[href], [role=button]"))
        if (visible(one) && !name(one)) say("no text on " + one.outerHTML);
    for (const one of document.querySelectorAll("img")) if (!one.hasAttribute("alt")) say("no alt: " + one.src);
    for (const one of document.querySelectorAll("th")) if (!name(one)) say("an empty th");
    for (const one of document.querySelectorAll("button, input:not([type=hidden]), select, a[href]")) {
        const box = one.getBoundingClientRect();
        const inline = one.tagName === "A" && getComputedStyle(one).display === "inline";
        if (visible(one) && !inline && (box.width < 24 || box.height < 24))
            say("too small for a click: " + name(one) + " " + box.width + "x" + box.height);
    }
    for (const one of document.querySelectorAll("button, time, h1, h2")) {
        const range = document.createRange();
        range.selectNodeContents(one);
        const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
        if (visible(one) && lines > name(one).split(/\s+/).length) say("broken within a word: " + name(one).replace(/\s+/g, " "));
    }
    const parse = text => {
        const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
        canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (front, back) => [0, 1, 2].map(i => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
    const base = matchMedia("(prefers-color-scheme: dark)").matches
        && getComputedStyle(document.documentElement).colorScheme.includes("dark") ? [18, 18, 18, 1] : [255, 255, 255, 1];
    const background = one => {
        const layers = [];
        for (; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
        return layers.reverse().reduce((back, front) => over(front, back), base);
    };
    const light = color => {
        const [r, g, b] = color.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        const one = node.parentElement;
        if (!node.data.trim() || !visible(one) || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(one.tagName)) continue;
        count++;
        const back = background(one), style = getComputedStyle(one);
        const ratio = contrast(over(parse(style.color), back), back);
        if (ratio < 4.5) say("contrast " + ratio.toFixed(2) + ": " + node.data.trim().slice(0, 40));
    }
    for (const one of document.querySelectorAll("input:not([type=hidden])")) {
        if (!visible(one)) continue;
        const style = getComputedStyle(one), back = background(one);
        if (contrast(over(parse(style.color), back), back) < 4.5) say("contrast of the text in the field " + one.name);
        const edges = [contrast(back, background(one.parentElement)),
            parseFloat(style.borderBottomWidth) > 0 ? contrast(over(parse(style.borderBottomColor), back),
                background(one.parentElement)) : 1];
        if (Math.max(...edges) < 3) say("the edge of the field is not visible: " + one.name + " " + edges);
    }
    if (!count) say("there is no text");
    if (document.documentElement.scrollWidth > innerWidth + 1) say("wider than the window");
    return wrong;
}"""


def sign_in_page(place, page):
    page.goto(place.origin + "/welcome")


def failed(place, page):
    page.goto(place.origin + "/welcome")
    fill(page, ANN[0], "wrong")


def step(place, page):
    page.goto(place.origin + "/steps")
    fill(page, "zoe", FIRST)


def welcome(place, page):
    place.sign_in(page)


def account(place, page):
    place.sign_in(page)
    page.goto(place.origin + "/account")


def signed_out(place, page):
    account(place, page)
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()


def ask_sign_out(place, page):
    place.sign_in(page)
    page.goto(place.origin + "/sign-out?return=/welcome")


def forbidden(place, page):
    place.sign_in(page, MALLORY, "/staff")


def not_found(place, page):
    page.goto(place.origin + "/nothing/here")


def index(place, page):
    page.goto(place.origin + "/")


def message_to_all_users(place, page):
    place.site.command("message", "set", "--until", "1h", "Maintenance today from 18:00 to 19:00 <UTC>. Please save your work.")
    try:
        # The server reads the message within a second.
        for _ in range(50):
            page.goto(place.origin + "/sign-in?return=/welcome")
            if page.locator("[role=note]").count():
                break
            page.wait_for_timeout(100)
        expect("from 18:00 to 19:00 <UTC>." in page.locator("[role=note]").inner_text(), "the message is not shown")
    finally:
        place.site.command("message", "clear")


PAGES = [sign_in_page, failed, step, welcome, account, signed_out, ask_sign_out, forbidden, not_found, index, message_to_all_users]


def check_pages(place, name, **window):
    """Opens every page in a window with the given properties of Playwright. The name ends the names of the screenshots."""
    wrong = []
    # Ends old sessions, so that the list on the account page is short in the screenshot.
    place.site.command("sessions", "end", "--all")
    for go in PAGES:
        page = place.page(**window)
        refused = []
        page.on("console", lambda message: refused.append(message.text) if "Refused" in message.text or "violates" in message.text else None)
        go(place, page)
        wrong += [f"{go.__name__}: {text}" for text in page.evaluate(CHECK)]
        page.evaluate(AXE)
        wrong += [f"{go.__name__}: {text}" for text in page.evaluate(RUN_AXE)]
        # After the check, because a screenshot adds a style to the page that hides the caret.
        place.picture(page, f"{go.__name__.replace('_', '-')}-{name}")
        wrong += [f"{go.__name__}: {text}" for text in refused]
        if go is failed and page.locator("[role=alert]").count() != 1:
            wrong.append("failed: no role=alert")
        place.close_contexts()
    expect(not wrong, "; ".join(wrong))


WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 320, "height": 800}


@scenario
def every_page_is_accessible_in_the_light_color_scheme(place):
    check_pages(place, "light", color_scheme="light", viewport=WIDE)


@scenario
def every_page_is_accessible_in_the_dark_color_scheme(place):
    check_pages(place, "dark", color_scheme="dark", viewport=WIDE)


@scenario
def every_page_is_accessible_with_forced_colors(place):
    check_pages(place, "forced", forced_colors="active", viewport=WIDE)


@scenario
def every_page_fits_a_narrow_window(place):
    check_pages(place, "light-narrow", color_scheme="light", viewport=NARROW)


@scenario
def every_page_fits_a_window_at_400_percent(place):
    # A window of 1280 by 1024 pixels has 320 by 256 at 400 % (WCAG 2.2, 1.4.10).
    check_pages(place, "light-400", color_scheme="light", viewport={"width": 320, "height": 256}, device_scale_factor=4)


@scenario
def every_page_fits_a_narrow_window_in_german_and_french(place):
    for language in ("de", "fr"):
        check_pages(place, f"{language}-narrow", color_scheme="dark", viewport=NARROW, locale=language)
        page = place.page(locale=language)
        sign_in_page(place, page)
        expect(page.evaluate("document.documentElement.lang") == language, "the page is in another language")
        button = page.locator("button.small").text_content()
        expect(button == {"de": "Passwort anzeigen", "fr": "Afficher le mot de passe"}[language], f"the script says {button}")
        place.close_contexts()


@scenario
def every_page_has_its_own_title(place):
    page = place.page()
    titles = {}
    for go in PAGES:
        go(place, page)
        titles[go.__name__] = page.title()
        page.context.clear_cookies()
    for first, second in (("sign_in_page", "welcome"), ("sign_in_page", "account"), ("sign_in_page", "step"),
                          ("welcome", "forbidden"), ("sign_in_page", "not_found")):
        expect(titles[first] != titles[second], f"{first} and {second} have the same title: {titles}")
