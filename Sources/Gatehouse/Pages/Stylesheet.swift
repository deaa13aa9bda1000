// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The stylesheet of all pages.
enum Stylesheet {
    /// What is served as `/style.css`.
    static let text = """
        :root { color-scheme: light dark; --ink: #1d2433; --soft: #545c6f; --paper: #f4f5f8; --card: #fff; --line: #d9dde6;
          --edge: #7d8597; --accent: #1f5fbf; --on-accent: #fff; --bad: #a8321f; --note: #eef3fb; --bad-note: #fcefec; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e7eaf1; --soft: #a5adbf; --paper: #13161d; --card: #1c212b;
          --line: #333b49; --edge: #7a8499; --accent: #8ab4f8; --on-accent: #10203a; --bad: #ff9c87; --note: #22304a;
          --bad-note: #3a2320; } }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
          justify-content: center; background: var(--paper); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { width: min(34rem, 92vw); margin: 1rem; padding: 2rem 2.25rem; background: var(--card);
          border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
        h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; }
        h2 { margin: 1.75rem 0 .5rem; font-size: 1.15rem; }
        p { margin: .5rem 0; color: var(--soft); } small { color: var(--soft); }
        .status { margin: 0; font-weight: 600; color: var(--bad); letter-spacing: .05em; }
        .notice { margin: 1rem 0; padding: .6rem .9rem; border-left: .25rem solid var(--accent); border-radius: .25rem;
          background: var(--note); color: var(--ink); }
        .notice.error { border-color: var(--bad); background: var(--bad-note); }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 1.25rem 0 0;
          padding-top: 1.25rem; border-top: 1px solid var(--line); }
        dt { color: var(--soft); grid-column: 1; } dd { margin: 0; grid-column: 2; }
        a { color: var(--accent); } footer { margin: 1rem; font-size: .85rem; color: var(--soft); }
        form { margin: 1.25rem 0 0; }
        label { display: block; margin: 1rem 0 .3rem; font-weight: 600; }
        input { width: 100%; padding: .6rem .75rem; border: 1px solid var(--edge); border-radius: .4rem;
          background: var(--paper); color: var(--ink); font: inherit; }
        button { margin-top: 1.25rem; min-height: 2.75rem; padding: .5rem 1.4rem; border: 0; border-radius: .4rem;
          background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600;
          white-space: nowrap; cursor: pointer; }
        button, form.inline a { flex: none; overflow-wrap: normal; } time { white-space: nowrap; }
        :focus-visible { outline: .18rem solid var(--accent); outline-offset: .15rem; }
        form.inline { display: flex; flex-wrap: wrap; gap: .75rem 1.25rem; align-items: center; }
        form.inline button { margin-top: 0; }
        .sessions { list-style: none; margin: 0; padding: 0; }
        .sessions li { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 1rem; padding: .75rem 0;
          border-top: 1px solid var(--line); }
        .sessions form { flex: none; margin: 0; } .sessions button { margin: 0; }
        .tag { white-space: nowrap; padding: .1rem .5rem; border-radius: 1rem; background: var(--note); color: var(--ink); font-size: .8rem; }
        #session-notice { position: fixed; left: 50%; bottom: 1rem; transform: translateX(-50%); width: min(34rem, 92vw);
          margin: 0; border: 1px solid var(--line); border-left: .25rem solid var(--accent); }
        #session-notice button { min-height: 2.25rem; margin: .5rem 0 0; padding: .3rem 1rem; display: block; }

        """
}
