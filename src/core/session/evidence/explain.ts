import type { Evidence } from './evidence.ts'
import { judged } from './judge.ts'
import type { JudgeOptions } from './patience.ts'
import type { Reason, Verdict } from './verdict.ts'

/** A verdict laid open: every sign there is, which of them counted, and what would change it. */
export type Explanation = {
  readonly verdict: Verdict
  readonly signs: readonly (Reason & { readonly counted: boolean })[]
  readonly wouldChange: readonly string[]
}

/** Why a session is thought to be in its state. */
export function explain(evidence: Evidence, options: JudgeOptions): Explanation {
  const { verdict, signs } = judged(evidence, options)
  return {
    verdict,
    signs: signs.map(({ reason, counted }) => ({ ...reason, counted })),
    wouldChange: [...changes(verdict), ...expiry(verdict, options.now)],
  }
}

function changes(verdict: Verdict): readonly string[] {
  if (verdict.health === 'gone' || verdict.health === 'crashed')
    return ['a start of the program, or a prompt that it takes, would bring it back']
  switch (verdict.lifecycle) {
    case 'starting':
      return [
        'a word of the CLI that it is ready would make it idle',
        'a prompt that it takes would make it running',
        'a dialog on the screen would make it wait for a person',
      ]
    case 'running':
      return verdict.waitingFor === 'background'
        ? [
            'a turn that ends with nothing in the background would make it idle',
            'a note that the background work ended would begin a turn',
          ]
        : [
            'the end of the turn, told by a hook or the transcript, would make it idle',
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
        'a prompt that it takes would make it running',
        'a tool that begins, or a screen that shows work, would make it running',
        ...(verdict.waitingFor === 'limit' ? ['the end of the limit would free it'] : []),
      ]
    case 'error':
      return ['a prompt that it takes would make it running', 'a new conversation would make it idle']
  }
}

function expiry({ until, becomes }: Verdict, now: number): readonly string[] {
  if (until === undefined || !becomes) return []
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  const health = becomes.health === 'ok' ? '' : ` (${becomes.health})`
  return [`silence for another ${seconds} s would make it ${becomes.lifecycle}${health}`]
}
