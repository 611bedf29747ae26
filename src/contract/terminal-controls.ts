/**
 * Characters that act on a terminal, turn around or hide what is beside them: controls besides the line end and the tab,
 * bidirectional controls, line separators of Unicode, and what is not drawn at all. Joiners and selectors stay where
 * scripts and pictures need them.
 */
export const terminalControls =
  /(?![\n\t])\p{Cc}|[\p{Zl}\p{Zp}\ufff9-\ufffb]|[\p{DI}--[\p{Join_C}\p{VS}]]|(?<![\p{Emoji}\p{M}\p{Lo}])\p{Join_C}|(?<![\p{Emoji}\p{Lo}[\p{M}--\p{VS}]])\p{VS}/gv

/** JSON in which those characters are escaped too: it reads as the same value, and is safe to look at. */
export function printableJson(json: string): string {
  return json.replaceAll(terminalControls, (found) =>
    Array.from({ length: found.length }, (_, i) => escaped(found.charCodeAt(i))).join(''),
  )
}

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
