// SPDX-License-Identifier: Apache-2.0

/// The style sheet of the page, with a light and a dark color scheme.
let stylesheet = """
    :root { color-scheme: light dark; --ground: #fff; --ink: #1a1a1a; --quiet: #595959; --mine: #e3eefc; --line: #c8c8c8; --key: #0b57d0; }
    @media (prefers-color-scheme: dark) {
      :root { --ground: #16181c; --ink: #ececec; --quiet: #a8a8a8; --mine: #20344f; --line: #44484f; --key: #9cc2ff; }
    }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 46rem; height: 100dvh; display: flex; flex-direction: column; padding: 0 1rem;
      background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
    header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; border-bottom: 1px solid var(--line); }
    header h1 { margin: .5rem 0; font-size: 1.25rem; }
    header p { margin: 0; flex: 1; }
    main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
    #messages { flex: 1; min-height: 0; overflow-y: auto; margin: 0; padding: .5rem; list-style: none; }
    #messages li { margin: 0 0 .5rem; padding: .25rem .5rem; border-radius: .5rem; overflow-wrap: anywhere; }
    #messages li.mine { background: var(--mine); }
    #messages bdi { font-weight: 600; }
    #messages time { color: var(--quiet); font-size: .875rem; }
    #messages span { display: block; }
    #notice { min-height: 1.5rem; margin: 0; }
    #form { display: flex; gap: .5rem; align-items: center; padding: .5rem 0 1rem; }
    #form[hidden] { display: none; }
    #text { flex: 1; min-width: 0; }
    input, button { font: inherit; color: inherit; background: var(--ground); padding: .4rem .6rem; border: 1px solid var(--quiet);
      border-radius: .4rem; }
    a { color: var(--key); }
    :focus-visible { outline: 3px solid var(--key); outline-offset: 2px; }

    """
