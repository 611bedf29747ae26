import { count, elapsed } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { harmlessStream } from '../render/safe-text.ts'
import { restOf } from '../talk/answer.ts'
import type { Heard, ToolCall } from '../talk/heard.ts'
import { toolRow } from '../talk/tool-row.ts'
import { flow } from '../tui/lines.ts'
import { asideLines, saidLines, wordLine } from './chat-lines.ts'
import {
  acted,
  type ChatModel,
  type LiveRun,
  roomOf,
  type Step,
  shown,
  still,
  type Unheard,
} from './model.ts'

/** What becomes of a chat when something is heard. */
export function hear(model: ChatModel, heard: Heard): Step {
  switch (heard.kind) {
    case 'begun':
      return still(withRun(model, heard.runId, newRun(model, heard.agent, heard.parent !== '')))
    case 'words':
      return words(model, heard)
    case 'said':
      return final(model, heard)
    case 'tool':
      return called(model, heard)
    case 'status':
      return turned(changed(model, heard.runId, { detail: heard.detail }), heard)
    case 'ended':
      return ended(model, heard)
    case 'queue':
      return still({ ...model, waiting: queued(model, heard) })
    case 'taken':
      return taken(model, heard.messageId)
    case 'refused': {
      const waiting = model.waiting.filter(({ id }) => id !== heard.messageId)
      return still({ ...model, waiting })
    }
    case 'asked':
      return acted(model, { kind: 'look' })
    case 'closed':
      return shown(
        { ...model, session: undefined, runs: new Map(), waiting: [], asks: [], card: undefined },
        asideLines(model, 'This session has ended. Your next message starts a new one.', 'yellow'),
      )
    case 'gap':
      return shown(model, asideLines(model, 'Some output is missing here.', 'yellow'))
    case 'changed':
      return still(model)
  }
}

export const newRun = ({ now }: ChatModel, agent: string, isBelow: boolean): LiveRun => ({
  agent,
  isBelow,
  sinceMs: now,
  detail: '',
  turn: '',
  said: '',
  rest: '',
  isLineBegun: false,
  calls: 0,
  isTurnOver: true,
  held: [],
})

function withRun(model: ChatModel, runId: string, run: LiveRun): ChatModel {
  return { ...model, runs: new Map(model.runs).set(runId, run) }
}

function changed(model: ChatModel, runId: string, change: Partial<LiveRun>): ChatModel {
  const run = model.runs.get(runId)
  return run === undefined ? model : withRun(model, runId, { ...run, ...change })
}

/** Words are told as they come, and what happened before them a moment later, when it is on disk. */
function words(model: ChatModel, { runId, text, isDone }: Extract<Heard, { kind: 'words' }>): Step {
  const run = model.runs.get(runId)
  if (run === undefined || run.isBelow) return still(model)
  if (!run.isTurnOver && run.held.length === 0) return spoken(model, runId, { text, isDone })
  return still(changed(model, runId, { held: [...run.held, { text, isDone }] }))
}

function spoken(model: ChatModel, runId: string, { text, isDone }: LiveRun['held'][number]): Step {
  const run = model.runs.get(runId)
  if (run === undefined) return still(model)
  const { lines, rest, ...flowed } = flowing(model, run, text)
  const turn = run.turn + text
  if (!isDone) return shown(changed(model, runId, { ...flowed, turn, rest }), lines)
  const closed = closing(model, { ...run, ...flowed, rest })
  const change = { turn: '', said: turn, rest: '', isLineBegun: false, isTurnOver: true }
  return shown(changed(model, runId, change), [...lines, ...closed])
}

/** The record of a turn has come, and with it that of all before it: what was held for it is said. */
function turned(model: ChatModel, { runId, isTurn }: Extract<Heard, { kind: 'status' }>): Step {
  return isTurn ? released(changed(model, runId, { isTurnOver: false }), runId) : still(model)
}

function released(model: ChatModel, runId: string): Step {
  const run = model.runs.get(runId)
  if (run === undefined || run.held.length === 0) return still(model)
  let step = still(changed(model, runId, { held: [] }))
  for (const held of run.held) {
    const next = spoken(step.model, runId, held)
    step = shown(next.model, [...step.out, ...next.out])
  }
  return step
}

/** The lines that are whole once a text has come, and what is left. */
function flowing(model: ChatModel, run: LiveRun, text: string) {
  const fresh =
    run.isLineBegun || run.rest !== '' ? harmlessStream(text) : harmlessStream(text).replace(/^\s+/, '')
  const { lines, rest } = flow(run.rest + fresh, roomOf(model) - 2 - nameRoom(model, run))
  return {
    lines: lines.flatMap((line, i) => turnLines(model, run, { line, isFirst: !run.isLineBegun && i === 0 })),
    rest,
    isLineBegun: run.isLineBegun || lines.length > 0,
  }
}

// Only the first line of a turn has the name in it; all are made to fit beside it.
const nameRoom = (model: ChatModel, { agent }: LiveRun): number =>
  agent === model.agent ? 0 : agent.length + 2

function turnLines(
  model: ChatModel,
  run: LiveRun,
  { line, isFirst }: { line: string; isFirst: boolean },
): string[] {
  const shownLine = wordLine(model, line, { isFirst, agent: run.agent })
  return isFirst ? ['', shownLine] : [shownLine]
}

/** The last line of a turn. */
function closing(model: ChatModel, run: LiveRun): string[] {
  if (run.rest.trim() === '') return []
  return turnLines(model, run, { line: run.rest.trimEnd(), isFirst: !run.isLineBegun })
}

function final(before: ChatModel, { runId, to, text }: Extract<Heard, { kind: 'said' }>): Step {
  if (to !== 'user') return still(before)
  const { model, out } = released(before, runId)
  const run = model.runs.get(runId)
  if (run === undefined || run.isBelow) return shown(model, out)
  const missing = restOf(run.turn || run.said, text)
  if (missing === '') return shown(model, out)
  const { lines, ...flowed } = flowing(model, run, missing)
  const closed = closing(model, { ...run, ...flowed })
  return shown(changed(model, runId, { said: text, turn: '', rest: '', isLineBegun: false }), [
    ...out,
    ...lines,
    ...closed,
  ])
}

function called(model: ChatModel, told: ToolCall): Step {
  const call = { ...model.calls.get(told.callId), ...told }
  const calls = new Map(model.calls)
  const run = model.runs.get(call.runId)
  if (call.result === undefined) {
    calls.set(call.callId, call)
    const detail = `${call.tool} ${call.target ?? ''}`.trim()
    // A turn that only calls has no words; with its call it is over.
    return still(changed({ ...model, calls }, call.runId, { detail, isTurnOver: true }))
  }
  calls.delete(call.callId)
  const by = run?.isBelow ? run.agent : undefined
  const row = toolRow({ ...call, by }, { width: roomOf(model) - 2, paint: painter(model.color) })
  const next = changed({ ...model, calls }, call.runId, { calls: (run?.calls ?? 0) + 1, detail: '' })
  return shown(next, [`  ${row}`])
}

function ended(before: ChatModel, { runId, outcome }: Extract<Heard, { kind: 'ended' }>): Step {
  const { model, out } = released(before, runId)
  const run = model.runs.get(runId)
  const runs = new Map(model.runs)
  runs.delete(runId)
  // A call that a stopped run leaves has no end of its own.
  const calls = new Map([...model.calls].filter(([, call]) => call.runId !== runId))
  const next = { ...model, runs, calls }
  if (run === undefined || run.isBelow) return shown(next, out)
  return shown(next, [...out, ...closing(model, run), ...endLines(model, run, outcome)])
}

function endLines(
  model: ChatModel,
  run: LiveRun,
  outcome: Extract<Heard, { kind: 'ended' }>['outcome'],
): string[] {
  const why = outcome.detail === undefined ? '' : `: ${outcome.detail}`
  if (outcome.status === 'failed') return asideLines(model, `✗ ${run.agent} failed${why}`, 'red')
  if (outcome.status !== 'completed') return asideLines(model, `■ ${run.agent} was stopped${why}`, 'yellow')
  const { input = 0, output = 0 } = outcome.usage ?? {}
  const figures = [
    ...(run.calls === 0 ? [] : [`${count(run.calls)} ${run.calls === 1 ? 'call' : 'calls'}`]),
    elapsed(Math.max(0, model.now - run.sinceMs)),
    ...(input + output === 0 ? [] : [`${count(input + output)} tokens`]),
  ]
  return asideLines(model, figures.join(' · '))
}

/** What waits: what we said and the daemon has not answered yet, and what it says waits for an agent. */
function queued(model: ChatModel, { agent, items }: Extract<Heard, { kind: 'queue' }>): readonly Unheard[] {
  const unsent = model.waiting.filter(({ id }) => id === undefined)
  const known = new Map(model.waiting.map((one) => [one.id, one]))
  const listed = items.map(({ id, preview }): Unheard => {
    // The stream may be faster than the answer to what was sent.
    const ours = known.get(id) ?? unsent.find(({ text }) => text.includes(preview.trim()))
    if (ours?.id === undefined && ours !== undefined) unsent.splice(unsent.indexOf(ours), 1)
    return { id, agent, text: ours?.text ?? preview }
  })
  const others = model.waiting.filter((one) => one.id !== undefined && one.agent !== agent)
  return [...others, ...listed, ...unsent]
}

function taken(model: ChatModel, messageId: string): Step {
  const found = model.waiting.find(({ id }) => id === messageId)
  if (found === undefined) return still(model)
  const waiting = model.waiting.filter((one) => one !== found)
  return shown({ ...model, waiting }, saidLines(model, found.text))
}
