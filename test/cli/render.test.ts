import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { View } from '../../src/cli/command-module.ts'
import { renderChecks, renderDown, renderUp } from '../../src/cli/commands/daemon.ts'
import {
  renderAgent,
  renderAgentList,
  renderCheckedDefinitions,
  renderCrew,
  renderCrewList,
  renderNewAgent,
} from '../../src/cli/commands/definitions.ts'
import { renderHits } from '../../src/cli/commands/history.ts'
import {
  renderEventLine,
  renderImport,
  renderStats,
  renderVerification,
} from '../../src/cli/commands/journal.ts'
import { renderConversion, renderLogImports, renderValidations } from '../../src/cli/commands/log.ts'
import {
  renderConfig,
  renderConfigOrigins,
  renderModels,
  renderRedaction,
} from '../../src/cli/commands/settings.ts'
import { ago, bytes, count, plural } from '../../src/cli/render/figures.ts'
import { terminalText } from '../../src/cli/render/paint.ts'
import { oneLine, plainLines } from '../../src/cli/render/safe-text.ts'
import { type Column, table, terms } from '../../src/cli/render/table.ts'
import { cut, textWidth, wrap } from '../../src/cli/render/text-width.ts'
import * as data from './render-data.ts'

const now = Date.parse('2026-01-27T15:30:00.000Z')
const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'UTC'
})
afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const pages: [string, (view: View) => string][] = [
  ['up', (view) => renderUp(data.upFirst, view)],
  ['up-ssh', (view) => renderUp(data.upOverSsh, view)],
  [
    'down',
    (view) =>
      [
        renderDown(data.down, view, { sessions: false }),
        renderDown(data.downIdle, view, { sessions: false }),
        renderDown({ stopped: true, killed: 2, suspects: [] }, view, { sessions: true }),
        renderDown(data.downIdle, view, { sessions: true }),
      ].join('\n'),
  ],
  ['doctor', (view) => renderChecks(data.doctor, view)],
  ['doctor-well', (view) => renderChecks(data.doctorWell, view)],
  ['config', (view) => renderConfig(data.config, view)],
  ['config-origin', (view) => renderConfigOrigins(data.config, view)],
  ['agents', (view) => renderAgentList(data.agents, view)],
  ['agent', (view) => renderAgent(data.agent, view)],
  ['agents-new', () => data.newAgents.map((agent) => renderNewAgent(agent)).join('\n')],
  [
    'agents-check',
    (view) =>
      renderCheckedDefinitions({ loaded: data.agentsCheck.agents, word: 'agent', ...data.agentsCheck }, view),
  ],
  ['crews', (view) => renderCrewList(data.crews, view)],
  ['crew', (view) => data.crews.map((crew) => renderCrew(crew, view)).join('\n')],
  ['models', (view) => renderModels(data.models, view)],
  ['models-none', (view) => renderModels(data.modelsNone, view)],
  ['journal-verify', (view) => renderVerification(data.verified, view)],
  ['journal-damaged', (view) => renderVerification(data.damaged, view)],
  ['journal-cured', (view) => renderVerification(data.cured, view)],
  ['journal-stats', () => renderStats(data.stats)],
  ['journal-import', (view) => renderImport(data.imported, view)],
  ['journal-tail', (view) => data.events.map((event) => renderEventLine(event, view)).join('\n')],
  ['log-validate', (view) => renderValidations(data.validations, view)],
  ['log-import', (view) => renderLogImports(data.logImports, view)],
  ['log-migrate', () => renderConversion(data.conversion)],
  ['redact-test', (view) => renderRedaction(data.redaction, view)],
  ['search', (view) => renderHits(data.hits, view)],
]

describe.each([80, 120])('what people see at %i columns', (width) => {
  test.each(pages)(`%s at ${width} columns reads as it was approved`, async (name, render) => {
    const page = render({ width, now, color: false })
    await expect(`${page}\n`).toMatchFileSnapshot(`golden/${name}-${width}.txt`)
    expect(page).not.toContain('\u001b')
    for (const line of page.split('\n')) expect(line).toBe(line.trimEnd())
  })

  test.each(pages)(`[MUS-114] %s at ${width} columns is the same text with colours`, (_name, render) => {
    const painted = terminalText(render({ width, now, color: true }))
    expect(painted.replaceAll(/\p{Cc}\[\d+m/gu, '')).toBe(render({ width, now, color: false }))
  })
})

test.each([
  'doctor',
  'config-origin',
  'agents',
  'crews',
  'models',
  'models-none',
  'journal-tail',
  'redact-test',
  'search',
])('%s keeps to the width it is given', (name) => {
  const render = pages.find(([page]) => page === name)?.[1]
  for (const width of [80, 120]) {
    for (const line of (render?.({ width, now, color: false }) ?? '').split('\n')) {
      expect(textWidth(line), line).toBeLessThanOrEqual(width)
    }
  }
})

test.each([
  [0, 'just now'],
  [59_999, 'just now'],
  [-5000, 'just now'],
  [60_000, '1min ago'],
  [5 * 60_000, '5min ago'],
  [3_599_999, '59min ago'],
  [3_600_000, '1hr ago'],
  [3 * 3_600_000, '3hr ago'],
  [86_399_999, '23hr ago'],
  [86_400_000, '1day ago'],
  [2 * 86_400_000, '2days ago'],
])('%i ms ago is told as %s', (age, text) => {
  expect(ago(now - age, now)).toBe(text)
  expect(ago(new Date(now - age).toISOString(), now)).toBe(text)
})

test('amounts read like amounts', () => {
  expect([0, 999, 1024, 1536, 5 * 1024 * 1024, 3.2e12].map(bytes)).toEqual([
    '0 B',
    '999 B',
    '1 KB',
    '1.5 KB',
    '5 MB',
    '2.9 TB',
  ])
  expect([0, 999, 1000, 1234567].map(count)).toEqual(['0', '999', '1,000', '1,234,567'])
  expect([plural(0, 'event'), plural(1, 'event'), plural(2, 'event')]).toEqual([
    '0 events',
    '1 event',
    '2 events',
  ])
})

test('widths count columns, not code units, and cuts never split a character', () => {
  expect(textWidth('日本')).toBe(4)
  expect(textWidth('e\u0301')).toBe(1)
  expect(textWidth('\u001b[31mred\u001b[39m')).toBe(3)
  expect(cut('日本語', 5)).toBe('日本…')
  expect(cut('short', 5)).toBe('short')
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
})

type Row = { readonly id: string; readonly text: string; readonly n: string }
const rows: readonly Row[] = [
  { id: 'a', text: 'a rather long text', n: '1' },
  { id: 'bcd', text: '日本', n: '22' },
]

test('tables align, and only the elastic column gives way', () => {
  const columns: readonly Column<Row>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'TEXT', isElastic: true, cell: ({ text }) => text },
    { title: 'N', align: 'right', cell: ({ n }) => n },
  ]
  expect(table(rows, columns, 80)).toBe(
    ['ID   TEXT                 N', 'a    a rather long text   1', 'bcd  日本                22'].join('\n'),
  )
  expect(table(rows, columns, 20)).toBe(
    ['ID   TEXT          N', 'a    a rather l…   1', 'bcd  日本         22'].join('\n'),
  )
})

test('of two elastic columns the last gives way first, and a colour is no part of the width', () => {
  const columns: readonly Column<Row>[] = [
    { title: 'TEXT', isElastic: { keeps: 10 }, cell: ({ text }) => text },
    { title: 'AGAIN', isElastic: { keeps: 12 }, cell: ({ text }) => text, paint: (text) => `<${text}>` },
  ]
  const first = (width: number) => table(rows, columns, width).split('\n')[1]
  expect(first(38)).toBe('a rather long text  <a rather long text>')
  expect(first(34)).toBe('a rather long text  <a rather long…>')
  expect(first(26)).toBe('a rather lo…  <a rather lo…>')
  expect(first(22)).toBe('a rather…   <a rather…>')
})

test('terms stand beside what is said of them, which goes on below itself', () => {
  const said = [
    ['a', 'one two three'],
    ['long', 'four'],
  ] as const
  expect(terms(said)).toEqual(['  a     one two three', '  long  four'])
  expect(terms(said, { width: 16, indent: '' })).toEqual(['a     one two', '      three', 'long  four'])
})

test('[MUS-111] foreign text cannot steer the terminal', () => {
  expect(oneLine('a\u001b[2Jb\r\nc\u202ed')).toBe('a [2Jb c d')
  expect(plainLines('a\u001b[2J\r\n\tb')).toBe('a [2J\n  b')
})
