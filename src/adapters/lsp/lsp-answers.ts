import { promises as fs } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { cutText } from '../system/define-tool.ts'

const Position = z.looseObject({ line: z.number(), character: z.number() })
const Range = z.looseObject({ start: Position })
const Location = z.union([
  z.looseObject({ uri: z.string(), range: Range }),
  z.looseObject({ targetUri: z.string(), targetSelectionRange: Range }).transform((link) => ({
    uri: link.targetUri,
    range: link.targetSelectionRange,
  })),
])
const Locations = z.union([
  z.array(Location),
  Location.transform((one) => [one]),
  z.null().transform(() => []),
])
const Text = z.union([z.string(), z.looseObject({ value: z.string() }).transform(({ value }) => value)])
const Hover = z.looseObject({ contents: z.union([Text.transform((one) => [one]), z.array(Text)]) }).nullable()
const Diagnostics = z
  .array(
    z.looseObject({
      range: Range,
      severity: z.number().optional(),
      message: z.string(),
      code: z.unknown().optional(),
    }),
  )
  .nullish()
type Symbol = {
  name: string
  kind: number
  selectionRange?: z.infer<typeof Range> | undefined
  location?: { uri: string; range: z.infer<typeof Range> } | undefined
  children?: Symbol[] | undefined
}
const Symbol: z.ZodType<Symbol> = z.lazy(() =>
  z.looseObject({
    name: z.string(),
    kind: z.number(),
    selectionRange: Range.optional(),
    location: z.looseObject({ uri: z.string(), range: Range }).optional(),
    children: z.array(Symbol).optional(),
  }),
)

const mostLines = 100
const mostLineChars = 200

/** Places in files, each with its line. */
export async function locationLines(answer: unknown, workspace: string): Promise<readonly string[]> {
  const places = Locations.parse(answer)
  const shown = await Promise.all(
    places.slice(0, mostLines).map(({ uri, range }) => placeLine(uri, range, workspace)),
  )
  return bounded(shown, places.length)
}

export function hoverLines(answer: unknown): readonly string[] {
  const text = Hover.parse(answer)?.contents.join('\n\n').trim() ?? ''
  return text === '' ? [] : [cutText(text, 10_000)]
}

export function diagnosticLines(answer: unknown, file: string): readonly string[] {
  const all = Diagnostics.parse(answer) ?? []
  const lines = all.map(({ range, severity = 1, code, message }) => {
    const name = ['error', 'warning', 'information', 'hint'][severity - 1] ?? 'error'
    const number = typeof code === 'string' || typeof code === 'number' ? ` ${code}` : ''
    return `${file}:${at(range)} ${name}${number}: ${cutText(message, 2000)}`
  })
  return bounded(lines.slice(0, mostLines), lines.length)
}

/** Symbols of one file, each below the one that holds it, or of the whole project with their places. */
export function symbolLines(answer: unknown, workspace: string): readonly string[] {
  const lines: string[] = []
  const add = (symbols: readonly Symbol[], depth: number): void => {
    for (const { name, kind, selectionRange, location, children = [] } of symbols) {
      const range = selectionRange ?? location?.range
      const place = selectionRange ? at(range) : `${pathOf(location?.uri ?? '', workspace)}:${at(range)}`
      lines.push(
        `${'  '.repeat(depth)}${place} ${kinds[kind - 1] ?? 'symbol'} ${cutText(name, mostLineChars)}`,
      )
      add(children, depth + 1)
    }
  }
  add(z.array(Symbol).nullable().parse(answer) ?? [], 0)
  return bounded(lines.slice(0, 2 * mostLines), lines.length)
}

const kinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  )

const at = (range: z.infer<typeof Range> | undefined): string =>
  `${(range?.start.line ?? 0) + 1}:${(range?.start.character ?? 0) + 1}`

const bounded = (lines: readonly string[], count: number): readonly string[] =>
  count > lines.length ? [...lines, `[and ${count - lines.length} more]`] : lines

async function placeLine(uri: string, range: z.infer<typeof Range>, workspace: string): Promise<string> {
  const text = uri.startsWith('file:') ? await fs.readFile(fileURLToPath(uri), 'utf8').catch(() => '') : ''
  const line = text.split('\n', range.start.line + 1)[range.start.line]?.trim() ?? ''
  return `${pathOf(uri, workspace)}:${at(range)} ${cutText(line, mostLineChars)}`.trimEnd()
}

/** Below the workspace when it is there. */
function pathOf(uri: string, workspace: string): string {
  if (!uri.startsWith('file:')) return uri
  const path = fileURLToPath(uri)
  const below = relative(workspace, path)
  return below.startsWith('..') ? path : below
}
