import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { flattenConfig } from '../../contract/config/flatten-config.ts'
import type { RedactionReport } from '../../contract/offline.ts'
import { defineCommands, type View } from '../command-module.ts'
import { bashCompletion, fishCompletion, zshCompletion } from '../completion.ts'
import { readNamedFile } from '../named-files.ts'
import { plural } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { table, terms } from '../render/table.ts'
import { cut, wrap } from '../render/text-width.ts'
import { definitionCommands } from './definitions.ts'
import { trustCommands } from './trust.ts'

/** What is configured: settings, models, redaction, the shell; agents and crews are in `definitions.ts`. */
export const settingsCommands = {
  ...definitionCommands,
  ...trustCommands,
  ...defineCommands({
    'config show': {
      run: async (_input, io) => {
        const offline = await io.offline()
        const { config, origins, warnings, files } = await offline.configShow(io.signal)
        for (const warning of warnings) io.say(`warning: ${warning}`)
        return {
          files: [...files],
          values: flattenConfig(config).map(({ key, value }) => ({
            key,
            value,
            origin: origins[key] ?? 'default',
          })),
          warnings: [...warnings],
        }
      },
      render: (data, view, { origin }) =>
        origin ? renderConfigOrigins(data, view) : renderConfig(data, view),
    },
    models: {
      asks: () => ({}),
      render: renderModels,
    },
    'redact test': {
      run: async ({ file }, io) => {
        const text = await readNamedFile(file, io.signal)
        return (await io.offline()).redactTest(text, io.signal)
      },
      render: renderRedaction,
    },
    completion: {
      run: async ({ shell }) => ({ shell, script: scripts[shell]?.() ?? '' }),
      render: ({ script }) => script.trimEnd(),
    },
  }),
}

const indented = (text: string, width: number): string[] =>
  wrap(oneLine(text), width - 2).map((line) => `  ${line}`)

const scripts: Readonly<Record<string, () => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** The settings in force as `key: value`. */
export function renderConfig({ values }: CommandOutput<'config show'>, { color }: View): string {
  const paint = painter(color)
  return values.map(({ key, value }) => `${paint('cyan', oneLine(key))}: ${written(value)}`).join('\n')
}

/** The settings with the place that each was written at; files are numbered, so that their paths need no room. */
export function renderConfigOrigins({ values }: CommandOutput<'config show'>, { width }: View): string {
  const files: string[] = []
  const numberOf = (file: string): number => {
    if (!files.includes(file)) files.push(file)
    return files.indexOf(file) + 1
  }
  const rows = table(
    values,
    [
      { title: 'KEY', cell: ({ key }) => key },
      { title: 'VALUE', isElastic: true, cell: ({ value }) => written(value) },
      {
        title: 'ORIGIN',
        cell: ({ origin }) =>
          origin === 'default' ? 'default' : `[${numberOf(origin.file)}] line ${origin.line}`,
      },
    ],
    width,
  )
  const legend = files.map((file, i) => `[${i + 1}] ${oneLine(file)}`)
  return [rows, '', ...(files.length === 0 ? ['Every setting has its default value.'] : legend)].join('\n')
}

function written(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

/** The providers, what those that cannot be used lack, and which model is taken when none is named. */
export function renderModels(data: CommandOutput<'models'>, { width, color }: View): string {
  const paint = painter(color)
  const { providers, aliases, fallback } = data
  const usual = data.default
  const lacking = providers.filter(({ usable }) => !usable)
  // What a provider lacks is said once, below.
  const passed = usual.passed_over.filter(({ why }) => !lacking.some((one) => one.why === why))
  return [
    table(
      providers,
      [
        { title: 'PROVIDER', cell: ({ provider }) => provider },
        { title: 'PROTOCOL', cell: ({ protocol }) => protocol },
        { title: 'USABLE', cell: ({ usable }) => (usable ? 'yes' : 'no') },
        { title: 'MODELS', isElastic: true, cell: ({ models }) => oneLine(models.join(', ')) || '-' },
      ],
      width,
    ),
    '',
    `${paint('bold', 'Default')}  ${oneLine(usual.model ?? 'none')}`,
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
          ...wrap(
            'Keys are read from the environment of the daemon: set one, then run sm up --replace.',
            width,
          ),
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
  const plain = rows.map(([term, text]) => [oneLine(term), oneLine(text)] as const)
  return ['', paint('bold', title), ...terms(plain, { width })]
}

/** Each place that would be redacted, with its line as it would be stored. */
export function renderRedaction({ redacted, findings }: RedactionReport, { width, color }: View): string {
  const paint = painter(color)
  if (findings.length === 0) return 'Nothing would be redacted.'
  const lines = redacted.split('\n')
  const shown = findings.map(({ rule, line, column }) => {
    const place = `${line}:${column}: `
    const room = Math.max(10, width - place.length - rule.length - 2)
    return `${place}${paint('yellow', oneLine(rule))}  ${cut(oneLine(lines[line - 1] ?? ''), room)}`.trimEnd()
  })
  return [...shown, `${plural(findings.length, 'place')} would be redacted.`].join('\n')
}
