import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { table } from './table.ts'
import { wrap } from './text-width.ts'

/** The providers, what those that cannot be used lack, and which model is taken when none is named. */
export function renderModels(data: CommandOutput<'models'>, { width, color }: View): string {
  const paint = painter(color)
  const { providers, aliases, fallback } = data
  const usual = data.default
  const rows = providers.map(({ provider, protocol, usable, models }) => [
    provider,
    protocol,
    usable ? 'yes' : 'no',
    oneLine(models.join(', ')) || '-',
  ])
  const lacking = providers.filter(({ usable }) => !usable)
  // What a provider lacks is said once, below.
  const passed = usual.passed_over.filter(({ why }) => !lacking.some((one) => one.why === why))
  return [
    table(
      [
        { title: 'PROVIDER' },
        { title: 'PROTOCOL' },
        { title: 'USABLE' },
        { title: 'MODELS', isElastic: true },
      ],
      rows,
      width,
    ),
    '',
    `${paint('bold', 'Default')}  ${usual.model ?? 'none'}`,
    ...indented(`${usual.why}.`, width),
    ...passed.flatMap(({ model, why }) => indented(`Passed over: ${model}: ${why}.`, width)),
    ...(fallback.length === 0 ? [] : indented(`Then: ${fallback.join(', ')}.`, width)),
    ...section('Short names', Object.entries(aliases), { width, paint }),
    ...section(
      'Not usable',
      lacking.map(({ provider, why }) => [provider, why]),
      { width, paint },
    ),
    ...(lacking.some(({ why }) => why.startsWith('no key'))
      ? [
          '',
          ...wrap('Keys are taken from the environment of the daemon: set one, then sm up --replace.', width),
        ]
      : []),
  ].join('\n')
}

type Look = { readonly width: number; readonly paint: ReturnType<typeof painter> }

function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  { width, paint }: Look,
): string[] {
  if (rows.length === 0) return []
  const size = Math.max(...rows.map(([term]) => term.length))
  const lines = rows.flatMap(([term, text]) => {
    const [first = '', ...more] = wrap(oneLine(text), width - size - 4)
    return [`  ${term.padEnd(size)}  ${first}`, ...more.map((line) => `${' '.repeat(size + 4)}${line}`)]
  })
  return ['', paint('bold', title), ...lines]
}

const indented = (text: string, width: number): string[] =>
  wrap(oneLine(text), width - 2).map((line) => `  ${line}`)
