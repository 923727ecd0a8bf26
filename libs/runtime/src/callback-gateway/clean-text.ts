// Text of strangers, before people, terminals and models see it: control characters and terminal sequences go, every
// other character stays. Lone surrogates never get here, the JSON reader refuses them. R49
// eslint-disable-next-line no-control-regex -- control characters are what this is about
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const controls = new RegExp(control.source, 'g');
/** Colours and cursor movements (CSI), and titles and links (OSC), whole; linear on any text. */
// eslint-disable-next-line no-control-regex -- the same
const terminalSequences = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

/** Keeps tab, line feed and carriage return. */
export function cleanText(text: string): string {
  return control.test(text) ? text.replace(terminalSequences, '').replace(controls, '') : text;
}
