import type { Evidence } from './evidence.ts'
import { type Mark, trustOf } from './mark.ts'
import type { MarkName, MarkOf, Marks } from './marks.ts'
import { usualPatience } from './patience.ts'
import type { Reason } from './verdict.ts'

/** A sign of the evidence with its mark, by which it is known whether it counted. */
export type Sign = { readonly mark: Mark; readonly reason: Reason }

/** Every sign there is, the most weighty first. */
export function signsOf(evidence: Evidence, now: number): readonly Sign[] {
  const { marks, asks, answers, calls, agents } = evidence
  const named = (Object.keys(marks) as MarkName[]).flatMap((name) => {
    const mark = marks[name]
    return mark ? [signOf(name, mark, says(name, marks))] : []
  })
  const asked = asks.map((ask) => signOf('asking', ask, `it asked for a ${ask.ask}${about(ask.tool)}`))
  const answered = answers.map((one) => signOf('answered', one, `a ${one.ask}${about(one.tool)} was decided`))
  const called = calls.flatMap(({ start, end, tool }) =>
    start && !end ? [signOf('call', start, `a call${about(tool)} has begun and no end of it was seen`)] : [],
  )
  const working = agents.flatMap(({ seen, end, agentId }) =>
    end ? [] : [signOf('subagent', seen, `subagent ${agentId} was last seen and has not ended`)],
  )
  return [...named, ...asked, ...answered, ...called, ...working].toSorted(
    (a, b) => b.reason.weight - a.reason.weight || a.reason.ageMs - b.reason.ageMs,
  )

  function signOf(signal: string, mark: Mark, text: string): Sign {
    const ageMs = Math.max(0, now - mark.at)
    return { mark, reason: { signal, source: mark.source, ageMs, weight: weigh(mark, ageMs), says: text } }
  }
}

const about = (tool: string | undefined): string => (tool === undefined ? '' : ` (${tool})`)

/** A sign loses half its weight for each time it could have been renewed and was not. */
const weigh = (mark: Mark, ageMs: number): number =>
  Math.round((100 * trustOf[mark.source]) / (1 + ageMs / usualPatience.freshMs)) / 100

function says(name: MarkName, marks: Marks): string {
  const of = <N extends MarkName>(key: N) => marks[key] as MarkOf<N>
  switch (name) {
    case 'ready':
      return `a conversation began (${of('ready').reason ?? 'no reason given'})`
    case 'prompt':
      return of('prompt').origin === 'task' ? 'a note of the CLI to itself was taken' : 'a prompt was taken'
    case 'queued':
      return 'a prompt waits in the queue of the CLI'
    case 'tool-start':
      return `${of('tool-start').tool} began`
    case 'tool-end':
      return of('tool-end').ok ? 'a tool call ended well' : 'a tool call failed'
    case 'text':
      return 'the agent said something'
    case 'response':
      return of('response').isLast ? 'the model ended its turn' : 'the model answered'
    case 'turn-end':
      return `the turn ended, ${of('turn-end').background} left in the background`
    case 'turn-failed':
      return `the turn failed: ${of('turn-failed').error}`
    case 'interrupted':
      return 'a person interrupted the turn'
    case 'retrying':
      return 'a request to the model is being repeated'
    case 'idle':
      return 'the CLI says that it waits for a prompt'
    case 'compacted':
      return 'the conversation was compacted'
    case 'meter':
      return 'the status line reported'
    case 'screen-working':
      return 'the screen shows work'
    case 'screen-dialog':
      return `the screen shows a dialog: ${of('screen-dialog').title}`
    case 'screen-calm':
      return `the screen shows a box (${of('screen-calm').composer}) and no work`
    case 'screen-opaque':
      return 'the screen tells nothing'
    case 'agent':
      return 'a subagent did something'
    case 'gone':
      return `the CLI said goodbye (${of('gone').reason ?? 'no reason given'})`
    case 'switched':
      return `the CLI left its conversation (${of('switched').reason})`
    case 'exited':
      return exitText(of('exited'))
  }
}

const exitText = ({ code, signal }: MarkOf<'exited'>): string =>
  signal
    ? `the process ended by ${signal}`
    : `the process ended${code === undefined ? '' : ` with code ${code}`}`
