// The style of the reference's pages, dark and light.

export const pageStyle = `:root { color-scheme: light dark; --edge: light-dark(#d5d5dc, #3b3b46); --soft: light-dark(#f4f4f7, #1e1e25); --ink: light-dark(#1b1b22, #ececf1); --paper: light-dark(#fff, #131318); --link: light-dark(#0b57a4, #8ec5ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; display: flex; flex-wrap: wrap; }
nav { flex: 1 1 15rem; max-width: 100%; padding: 1.5rem; border-inline-end: 1px solid var(--edge); }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { padding: .15rem 0; }
main { flex: 999 1 32rem; max-width: 60rem; min-width: 0; padding: 1.5rem 2rem 6rem; }
a { color: var(--link); }
a:focus-visible, pre:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
section { border-top: 1px solid var(--edge); margin-top: 2.5rem; padding-top: 1rem; }
h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; padding: .8rem; overflow: auto; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { text-align: start; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--edge); }
.method { font-weight: 600; }
`;
