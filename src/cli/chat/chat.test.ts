import { expect, test } from 'vitest'
import type { ApprovalView } from '../../contract/session-views.ts'
import { textWidth } from '../render/text-width.ts'
import type { Heard } from '../talk/heard.ts'
import { type ChatEffect, type ChatInput, type ChatModel, openChat } from './model.ts'
import { reduce } from './reduce.ts'
import { view } from './view.ts'

const run = { runId: 'r', agent: 'coder' }
const begun: Heard = { kind: 'begun', ...run, parent: '', task: 'x' }
const turn: Heard = { kind: 'status', ...run, status: 'thinking', detail: 'Thinking', isTurn: true }
const words = (text: string, isDone = false): Heard => ({
  kind: 'words',
  ...run,
  text,
  isDone,
  isLossy: false,
})
const ended = (outcome = { status: 'completed' }): Heard => ({ kind: 'ended', ...run, outcome })
const asked = (more: Partial<ApprovalView> = {}): ApprovalView => ({
  approval_id: 'apr_1',
  session_id: 's',
  name: 'coder',
  subject: 'tool',
  action: 'Bash: ls',
  reason: null,
  scope: null,
  diff: null,
  risk: 'low',
  options: [],
  requested_at: '',
  expires_at: null,
  decision: null,
  decided_by: null,
  answer: null,
  ...more,
})

const printing: Heard = {
  kind: 'status',
  ...run,
  status: 'calling_tool',
  detail: 'Calling Bash: 3 of 4',
  isTurn: false,
}

/** A chat of a test: what is on the screen for good, what was asked of the world, and time that passes when told. */
function chat(columns = 60, rows = 24) {
  let model: ChatModel = openChat({
    size: { columns, rows },
    color: false,
    now: 1_000_000,
    agent: 'coder',
    mode: 'auto',
  })
  const out: string[] = []
  const effects: ChatEffect[] = []
  const take = (input: ChatInput) => {
    const step = reduce(model, input)
    model = step.model
    out.push(...step.out)
    effects.push(...step.effects)
  }
  return {
    out,
    effects,
    model: () => model,
    shown: () => view(model).lines.join('\n'),
    take,
    hear: (...heard: readonly Heard[]) => {
      for (const one of heard) take({ kind: 'heard', heard: one })
    },
    keys: (...keys: readonly string[]) => {
      for (const key of keys) take({ kind: 'key', key })
    },
    type: (text: string) => {
      for (const key of text) take({ kind: 'key', key })
    },
    pass: (ms: number) => {
      model = { ...model, now: model.now + ms }
      take({ kind: 'tick' })
    },
  }
}

test('[MUS-273][RUN-50][RUN-51] one line grows while an agent speaks; its calls and its end stay as rows', () => {
  const c = chat()
  c.hear(begun, words('I look'), turn)
  expect(c.out).toEqual([])
  expect(c.shown()).toContain('◆ I look')
  expect(c.shown()).toMatch(/coder {2}Thinking/)
  const call = { kind: 'tool', ...run, callId: 'c', tool: 'Read' } as const
  c.hear(words('.', true), { ...call, target: 'a.ts' })
  expect(c.shown()).toMatch(/coder {2}Read a.ts/)
  c.hear({ ...call, result: 'completed', durationMs: 12 }, words('Done.', true), turn)
  c.hear({ kind: 'said', runId: 'r', from: 'coder', to: 'user', text: 'Done.' }, ended())
  expect(c.out).toEqual(['', '◆ I look.', '  ● Read a.ts  12 ms', '', '◆ Done.', '  1 call · 0 ms'])
  expect(c.shown()).not.toContain('Thinking')
})

test('[MUS-273] words that come before the record of a call wait for it', () => {
  const c = chat()
  const read = { kind: 'tool', ...run, callId: 'c', tool: 'Read' } as const
  c.hear(begun, words('First'), turn, words('.', true), words('Second'), words('.', true))
  expect(c.out).toEqual(['', '◆ First.'])
  c.hear(read, { ...read, result: 'completed' }, turn)
  expect(c.out.splice(0).slice(2)).toEqual(['  ● Read', '', '◆ Second.'])
  // A turn without words is over with its call.
  c.hear(turn, read, words('Third.', true), { ...read, result: 'completed' }, turn)
  expect(c.out).toEqual(['  ● Read', '', '◆ Third.'])
})

test('[MUS-273][RUN-53] what was missed comes with the final text', () => {
  const c = chat()
  c.hear(begun, turn, words('It is '), {
    kind: 'said',
    runId: 'r',
    from: 'coder',
    to: 'user',
    text: 'It is 42.',
  })
  expect(c.out).toEqual(['', '◆ It is 42.'])
})

test('[MUS-273] the words of a subagent are not shown, its calls are', () => {
  const c = chat()
  c.hear(begun, { kind: 'begun', runId: 'b', agent: 'search', parent: 'coder', task: 'x' })
  c.hear({ kind: 'words', runId: 'b', agent: 'search', text: 'hidden', isDone: true, isLossy: false })
  c.hear({
    kind: 'tool',
    runId: 'b',
    agent: 'search',
    callId: 'c',
    tool: 'Grep',
    target: 'x',
    result: 'completed',
  })
  expect(c.out).toEqual(['    ● search Grep x'])
})

test('[MUS-273] what is said while the agent works is important and waits in sight until it is taken', () => {
  const c = chat()
  c.type('first')
  c.keys('<enter>')
  expect(c.effects).toEqual([{ kind: 'say', text: 'first', delivery: 'sequential' }])
  c.hear(
    { kind: 'queue', agent: 'coder', items: [{ id: 'm1', preview: 'first' }] },
    { kind: 'taken', runId: 'r', messageId: 'm1' },
  )
  c.take({ kind: 'sent', text: 'first', id: 'm1' })
  expect(c.out).toEqual(['', '› first'])
  expect(c.model().waiting).toEqual([])
  c.hear(begun)
  c.type('second')
  c.keys('<enter>')
  expect(c.effects.at(-1)).toEqual({ kind: 'say', text: 'second', delivery: 'important' })
  c.take({ kind: 'sent', text: 'second', id: 'm2' })
  expect(c.shown()).toContain('› second  queued')
  c.type('/dismiss 1')
  c.keys('<enter>')
  expect(c.effects.at(-1)).toEqual({ kind: 'dismiss', id: 'm2' })
  c.hear({ kind: 'refused', messageId: 'm2' })
  expect(c.shown()).not.toContain('second')
})

test('[MUS-273] words that could not be sent come back into the line', () => {
  const c = chat()
  c.type('hello')
  c.keys('<enter>')
  c.take({ kind: 'unsent', text: 'hello', why: 'the daemon is away' })
  expect(c.shown()).toContain('› hello')
  expect(c.shown()).toContain('the daemon is away')
})

test('[MUS-273] escape stops what is done, once more leaves; without work ctrl-c twice and ctrl-d leave', () => {
  const c = chat()
  c.hear(begun)
  c.keys('<esc>')
  expect(c.effects).toEqual([{ kind: 'cancel', runIds: ['r'] }])
  c.keys('<esc>')
  expect(c.effects.at(-1)).toEqual({ kind: 'leave' })
  const idle = chat()
  idle.keys('<esc>', '<esc>')
  expect(idle.effects).toEqual([])
  idle.keys('<c-c>')
  idle.pass(3000)
  idle.keys('<c-c>')
  expect(idle.effects).toEqual([])
  idle.keys('<c-c>')
  expect(idle.effects).toEqual([{ kind: 'leave' }])
  const other = chat()
  other.type('x')
  other.keys('<c-d>', '<bs>', '<c-d>')
  expect(other.effects).toEqual([{ kind: 'leave' }])
})

test('[MUS-273][MUS-259] a permission is answered by one key, but by none that was meant for the line', () => {
  const c = chat()
  c.hear(begun, { kind: 'asked', runId: 'r' })
  expect(c.effects).toEqual([{ kind: 'look' }])
  c.take({ kind: 'asks', asks: [asked()] })
  c.keys('y')
  expect(c.effects).toHaveLength(1)
  c.pass(1000)
  expect(c.shown()).toMatch(/│ Bash: ls\n│ y once {2}s this session {2}a always {2}n no/)
  c.keys('s')
  expect(c.effects.at(-1)).toEqual({
    kind: 'decide',
    decision: { id: 'apr_1', verdict: 'allow', scope: 'session' },
  })
  c.take({ kind: 'asks', asks: [asked({ approval_id: 'apr_2', risk: 'high' })] })
  c.pass(1000)
  c.keys('y')
  expect(c.effects).toHaveLength(2)
  c.keys('n')
  c.type('not now')
  c.keys('<enter>')
  expect(c.effects.at(-1)).toEqual({
    kind: 'decide',
    decision: { id: 'apr_2', verdict: 'deny', reason: 'not now' },
  })
  expect(c.model().line).toEqual({ before: '', after: '' })
})

test('[MUS-273][MUS-260] questions are answered by number, by several, or in words', () => {
  const scope = [
    { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }], isMany: false },
    { question: 'What else?', options: [{ label: 'X' }, { label: 'Y' }], isMany: true },
    { question: 'Why?', options: [], isMany: false },
  ]
  const c = chat()
  c.take({ kind: 'asks', asks: [asked({ subject: 'question', scope })] })
  c.pass(1000)
  c.keys('2', '1', '2', '<enter>')
  c.type('because y')
  c.keys('<enter>')
  expect(c.effects).toEqual([
    {
      kind: 'decide',
      decision: {
        id: 'apr_1',
        verdict: 'allow',
        answers: { 'Which?': 'B', 'What else?': 'X, Y', 'Why?': 'because y' },
      },
    },
  ])
  expect(c.out).toContain('› because y')
})

test('[MUS-273] up and down go through what was said, and what was being typed comes back', () => {
  const c = chat()
  for (const said of ['one', 'two']) {
    c.type(said)
    c.keys('<enter>')
  }
  c.type('dra')
  c.keys('<up>', '<up>', '<up>')
  expect(c.model().line.before).toBe('one')
  c.keys('<down>', '<down>')
  expect(c.model().line.before).toBe('dra')
})

test('[MUS-273] a pasted text keeps its lines, and a backslash begins a new one', () => {
  const c = chat()
  c.take({ kind: 'paste', text: 'a\r\n\tb\u001b' })
  c.type('\\')
  c.keys('<enter>')
  c.type('c')
  c.keys('<a-enter>', '<enter>')
  expect(c.effects).toEqual([{ kind: 'say', text: 'a\n  b\nc', delivery: 'sequential' }])
})

test('[MUS-273] commands of the chat: help, queue, agents, mode, quit, and what is none', () => {
  const c = chat()
  for (const line of ['/help', '/queue', '/agents', '/mode chat', '/nonsense', '/dismiss x', '/quit']) {
    c.type(line)
    c.keys('<enter>')
  }
  expect(c.out.join('\n')).toMatch(/@agent message[\s\S]*Nothing is queued\./)
  expect(c.effects).toEqual([
    { kind: 'agents' },
    { kind: 'say', text: '/mode chat', delivery: 'sequential' },
    { kind: 'leave' },
  ])
  c.take({ kind: 'mode', mode: 'chat' })
  expect(c.shown()).toContain('coder · chat')
})

test('[MUS-273] a session that was ended is told, and what is said next begins another', () => {
  const c = chat()
  c.take({ kind: 'joined', session: '1749a2fe', agent: 'coder' })
  c.hear(begun, { kind: 'closed' })
  expect(c.out.join(' ')).toContain('has ended')
  expect(c.model()).toMatchObject({ session: undefined })
  expect(c.model().runs.size).toBe(0)
})

test('[MUS-273] whatever is there fits, in any width, and the cursor is where the text ends', () => {
  const long = '日本語のとても長い文章 and words 👩‍👩‍👧 '.repeat(12)
  for (const columns of [24, 40, 80, 120]) {
    const c = chat(columns, 20)
    c.hear(begun, words(long), { ...turn, detail: long })
    c.take({
      kind: 'asks',
      asks: [asked({ action: long, reason: long, diff: `${long}\n`.repeat(30), risk: 'high' })],
    })
    c.type('x')
    c.take({ kind: 'paste', text: long })
    c.take({ kind: 'sent', text: '', id: '' })
    c.take({ kind: 'note', note: { tone: 'bad', text: long } })
    const { lines, cursor } = view(c.model())
    expect(lines.length).toBeLessThan(20)
    for (const line of [...lines, ...c.out]) expect(textWidth(line)).toBeLessThan(columns)
    expect(cursor.row).toBeLessThan(lines.length)
    expect(textWidth(lines[cursor.row]?.trimEnd() ?? '')).toBeLessThanOrEqual(cursor.column)
  }
})

test('[MUS-271] what a command prints stands in the line of its run, and makes no rows', () => {
  const c = chat()
  c.hear(begun, turn, { kind: 'tool', ...run, callId: 'c', tool: 'Bash', target: 'make' }, printing)
  expect(c.shown()).toContain('Calling Bash: 3 of 4')
  c.hear({ ...printing, detail: 'Calling Bash: \u001b[2J4 of 4' })
  expect(c.shown()).toContain('4 of 4')
  expect(c.shown()).not.toContain('3 of 4')
  expect(c.shown()).not.toContain('\u001b')
  expect(c.out).toEqual([])
})
