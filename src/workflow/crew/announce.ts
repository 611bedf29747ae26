import type { Crew } from '../../contract/crew.ts'
import type { Fact } from '../../contract/event.ts'
import type { Flow } from '../../ports/durable.ts'
import { tellApproved, tellCreated, whoGranted } from '../creation.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'

type Announcing = {
  readonly parts: Pick<CrewParts, 'clock' | 'events'>
  readonly flow: Flow
  readonly input: CrewInput
}

type Announced = {
  /** What it is going to do, in words. */
  readonly script: string
  /** How many may work at a time. */
  readonly fanOut: number
  readonly estimatedTokens?: number | undefined
  /** Asks a person, and throws when the answer is no. */
  readonly ask?: (() => Promise<void>) | undefined
}

/** Writes what a crew is going to do once that is known, and who let it go on; before that nobody works. */
export async function announce({ parts, flow, input }: Announcing, what: Announced): Promise<void> {
  const { script, fanOut, estimatedTokens, ask } = what
  const { crew } = input
  const created = await tellCreated(flow, {
    name: crew.name,
    script,
    phases: [...phases[crew.flow]],
    fanOut,
    ...(estimatedTokens !== undefined && { estimatedTokens }),
  })
  await ask?.()
  const { sessionId } = flow.root()
  await tellApproved(flow, {
    clock: parts.clock,
    created,
    by: async () =>
      ask
        ? { approvedBy: await whoGranted(parts.events(sessionId, ['approval.granted']), 'plan') }
        : { approvedBy: await whoBegan(parts.events(sessionId, ['session.started'])), reason: unasked },
  })
}

const unasked = 'nobody was asked: approve_plan is off, so whoever started the crew approved it'

const planned = [
  'receive',
  'analyze',
  'plan',
  'delegate',
  'collect',
  'integrate',
  'review',
  'iterate',
  'complete',
] as const

const phases: Readonly<Record<Crew['flow'], readonly string[]>> = {
  planned,
  one_task: planned,
  review: ['receive', 'review', 'complete'],
  pipeline: ['receive', 'delegate', 'review', 'complete'],
}

async function whoBegan(started: AsyncIterable<Fact>): Promise<string> {
  for await (const { actor } of started) return actor
  return 'a person'
}
