import type { SignalSource } from '../../../contract/signal.ts'
import {
  type Evidence,
  type LastSightings,
  type Sighting,
  type SightingKind,
  type SightingOf,
  trustOf,
} from './evidence.ts'
import { defaultTimeouts } from './timeouts.ts'
import type { Verdict } from './verdict.ts'

/** One sign that a verdict rests on. */
export type Reason = {
  readonly signal: string
  readonly source: SignalSource
  readonly ageMs: number
  /** From 0 to 1: how much its source is believed, less when it is old. */
  readonly weight: number
  readonly says: string
}

/** A sign of the evidence with its sighting, by which it is known whether it counted. */
export type Sign = { readonly sighting: Sighting; readonly reason: Reason }

/** Every sign there is, the most weighty first. */
export function signsOf(evidence: Evidence, now: number): readonly Sign[] {
  const { last, asks, answers, calls, agents } = evidence
  const named = (Object.keys(last) as SightingKind[]).flatMap((name) => {
    const sighting = last[name]
    return sighting ? [signOf(name, sighting, wordsFor(name, last))] : []
  })
  const asked = asks.map((ask) => signOf('asking', ask, `it asked for a ${ask.ask}${about(ask.tool)}`))
  const answered = answers.map((one) => signOf('answered', one, `a ${one.ask}${about(one.tool)} was decided`))
  const called = calls.flatMap(({ start, end, tool }) =>
    start && !end
      ? [signOf('call', start, `a call${about(tool)} has started and has not been seen to end`)]
      : [],
  )
  const working = agents.flatMap(({ seen, end, agentId }) =>
    end ? [] : [signOf('subagent', seen, `subagent ${agentId} was last seen and has not ended`)],
  )
  return [...named, ...asked, ...answered, ...called, ...working].toSorted(
    (a, b) => b.reason.weight - a.reason.weight || a.reason.ageMs - b.reason.ageMs,
  )

  function signOf(signal: string, sighting: Sighting, text: string): Sign {
    const ageMs = Math.max(0, now - sighting.at)
    return {
      sighting,
      reason: { signal, source: sighting.source, ageMs, weight: weigh(sighting, ageMs), says: text },
    }
  }
}

const about = (tool: string | undefined): string => (tool === undefined ? '' : ` (${tool})`)

/** A sign loses half its weight for each time it could have been renewed and was not. */
const weigh = (sighting: Sighting, ageMs: number): number =>
  Math.round((100 * trustOf[sighting.source]) / (1 + ageMs / defaultTimeouts.freshMs)) / 100

function wordsFor(name: SightingKind, sightings: LastSightings): string {
  const of = <N extends SightingKind>(key: N) => sightings[key] as SightingOf<N>
  switch (name) {
    case 'ready':
      return `a conversation began (${of('ready').reason ?? 'no reason given'})`
    case 'prompt':
      return of('prompt').origin === 'task' ? 'the CLI accepted a note to itself' : 'a prompt was accepted'
    case 'queued':
      return 'a prompt is waiting in the queue of the CLI'
    case 'tool-start':
      return `${of('tool-start').tool} began`
    case 'tool-end':
      return of('tool-end').ok ? 'a tool call succeeded' : 'a tool call failed'
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
      return 'the CLI says that it is waiting for a prompt'
    case 'compacting':
      return 'the conversation is being compacted'
    case 'compacted':
      return 'the conversation was compacted'
    case 'meter':
      return 'the status line reported'
    case 'screen-working':
      return 'the screen shows work'
    case 'screen-dialog':
      return `the screen shows a dialog: ${of('screen-dialog').title}`
    case 'screen-calm':
      return calmText(of('screen-calm'))
    case 'screen-opaque':
      return 'the screen shows nothing useful'
    case 'agent':
      return 'a subagent did something'
    case 'gone':
      return `the CLI ended (${of('gone').reason ?? 'no reason given'})`
    case 'switched':
      return `the CLI left its conversation (${of('switched').reason})`
    case 'exited':
      return exitText(of('exited'))
  }
}

function calmText({ composer, limit, error }: SightingOf<'screen-calm'>): string {
  if (limit !== undefined) return `the screen shows a limit and no work: ${limit}`
  return error === undefined
    ? `the screen shows a box (${composer}) and no work`
    : `the screen shows an error and no work: ${error}`
}

const exitText = ({ code, signal }: SightingOf<'exited'>): string =>
  signal
    ? `the process ended by ${signal}`
    : `the process ended${code === undefined ? '' : ` with code ${code}`}`

const failureChars = 500

/** Why the last turn failed, in the words of whoever told, and until when a limit holds. */
export function failureOf({ because, waitingUntil }: Pick<Verdict, 'because' | 'waitingUntil'>): string {
  const why = (because[0]?.says ?? 'the turn failed').replaceAll(/\s+/g, ' ').slice(0, failureChars)
  return waitingUntil === undefined
    ? why
    : `${why}; the limit ends at ${new Date(waitingUntil).toISOString()}`
}

/** What would make it another verdict, and when silence alone would. */
export const wouldChange = (verdict: Verdict, now: number): readonly string[] => [
  ...changesBySignal(verdict),
  ...changeBySilence(verdict, now),
]

function changesBySignal(verdict: Verdict): readonly string[] {
  if (verdict.health === 'gone' || verdict.health === 'crashed')
    return ['a start of the program, or a prompt that it accepts, would bring it back']
  switch (verdict.lifecycle) {
    case 'starting':
      return [
        'the CLI reporting that it is ready would make it idle',
        'a prompt that it accepts would make it running',
        'a dialog on the screen would make it wait for a person',
      ]
    case 'running':
      return verdict.waitingFor === 'background'
        ? [
            'a turn that ends with nothing in the background would make it idle',
            'a note that the background work ended would begin a turn',
          ]
        : [
            'the end of the turn, reported by a hook or the transcript, would make it idle',
            'an interrupt in the transcript, or a calm screen for some seconds, would make it idle',
            'a request for permission or a dialog on the screen would make it wait for a person',
            ...(verdict.health === 'ok' ? [] : ['any sign of work would make it healthy again']),
          ]
    case 'waiting_input':
      return [
        'an end of the tool that was asked about would make it running',
        'a screen without the dialog would make it running, or idle when it is calm',
        'an interrupt would make it idle',
      ]
    case 'idle':
      return [
        'a prompt that it accepts would make it running',
        'a tool that begins, or a screen that shows work, would make it running',
      ]
    case 'failed':
      return [
        'a prompt that it accepts would make it running',
        'a new conversation would make it idle',
        ...(verdict.waitingFor === 'limit' ? ['the end of the limit alone would leave it failed'] : []),
      ]
    case 'error':
      return ['a prompt that it accepts would make it running', 'a new conversation would make it idle']
  }
}

function changeBySilence({ until, becomes }: Verdict, now: number): readonly string[] {
  if (until === undefined || !becomes) return []
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  const health = becomes.health === 'ok' ? '' : ` (${becomes.health})`
  return [`silence for another ${seconds} s would make it ${becomes.lifecycle}${health}`]
}
