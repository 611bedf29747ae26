/** What came from the keyboard: a key by its character or its name in `<>`, or a text that was pasted. */
export type Typed =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'paste'; readonly text: string }

/** What was typed, and the beginning of something that has not come whole. */
export type ReadKeys = { readonly typed: readonly Typed[]; readonly rest: string }

const escape = '\u001b'
const pasteBegin = '\u001b[200~'
const pasteEnd = '\u001b[201~'
// A paste without an end must not swallow the keyboard for ever.
const longestPaste = 1024 * 1024

const finals: Readonly<Record<string, string>> = {
  A: '<up>',
  B: '<down>',
  C: '<right>',
  D: '<left>',
  H: '<home>',
  F: '<end>',
  Z: '<s-tab>',
}
const tildes: Readonly<Record<string, string>> = {
  1: '<home>',
  3: '<del>',
  4: '<end>',
  5: '<pageup>',
  6: '<pagedown>',
  7: '<home>',
  8: '<end>',
}
const controls: Readonly<Record<string, string>> = {
  '\r': '<enter>',
  '\n': '<enter>',
  '\t': '<tab>',
  '\u007f': '<bs>',
  '\u0008': '<bs>',
  [escape]: '<esc>',
}

/** Reads what a terminal sent in raw mode. `isAll` says that nothing more will come: a lone escape is then the key. */
export function readKeys(text: string, isAll = false): ReadKeys {
  const typed: Typed[] = []
  let rest = text
  while (rest !== '') {
    const found = rest.startsWith(escape) ? readEscape(rest, isAll) : readCharacter(rest)
    if (found === undefined) break
    if (found.typed) typed.push(found.typed)
    rest = rest.slice(found.length)
  }
  return { typed, rest }
}

type Found = { readonly typed?: Typed | undefined; readonly length: number }

const key = (name: string | undefined): Typed | undefined =>
  name === undefined ? undefined : { kind: 'key', key: name }

function readCharacter(text: string): Found {
  const character = String.fromCodePoint(text.codePointAt(0) ?? 0)
  return { typed: key(controls[character] ?? controlName(character)), length: character.length }
}

function controlName(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 0x20 ? `<c-${String.fromCharCode(code + 0x60)}>` : character
}

/** An escape sequence; nothing while it may still go on. */
function readEscape(text: string, isAll: boolean): Found | undefined {
  if (text.startsWith(pasteBegin)) return readPaste(text, isAll)
  const next = text.slice(escape.length)
  const [csi, parameters = '', final = ''] = /^\[([0-9;:<=>?]*)[ -/]*([@-~])/.exec(next) ?? []
  if (csi !== undefined) {
    const name = final === '~' ? tildes[parameters.split(';')[0] ?? ''] : finals[final]
    return { typed: key(name), length: escape.length + csi.length }
  }
  const [ss3, letter = ''] = /^O([A-Za-z])/.exec(next) ?? []
  if (ss3 !== undefined) return { typed: key(finals[letter]), length: escape.length + ss3.length }
  if (!isAll && /^(?:O|\[[0-9;:<=>?]*[ -/]*)?$/.test(next)) return undefined
  // The keys with Alt that mean something; any other is an escape and a key, typed fast or sent together.
  if (next.startsWith('\u007f')) return { typed: key('<a-bs>'), length: 2 }
  if (next.startsWith('\r')) return { typed: key('<a-enter>'), length: 2 }
  return { typed: key('<esc>'), length: escape.length }
}

function readPaste(text: string, isAll: boolean): Found | undefined {
  const end = text.indexOf(pasteEnd)
  if (end === -1 && !isAll && text.length < longestPaste) return undefined
  const pasted = text.slice(pasteBegin.length, end === -1 ? text.length : end)
  return {
    typed: { kind: 'paste', text: pasted },
    length: end === -1 ? text.length : end + pasteEnd.length,
  }
}
