import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { reviewFinding } from '../../../test/support/collaboration.ts'
import { openQuickBed } from '../../../test/support/local-bed.ts'
import type { EventOf, EventType } from '../../contract/event.ts'
import { Conversation } from '../../engine/delegation/conversation.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import { type Reviewed, type ReviewRound, reviewProcedure } from './crew-review.ts'
import type { CrewRun } from './crew-run.ts'

const architect = { agentId: 'arch', agentType: 'architect' }
const someone = (id: string) => ({ id, member: { id, role: 'reviewer', agent: 'reviewer', guidelines: [] } })
const late: WorkEnd = { status: 'timeout', text: '', reason: 'it took\ntoo long', tokens: 0, durationMs: 1 }
const answered = (reply: object): WorkEnd => ({
  status: 'completed',
  text: JSON.stringify(reply),
  tokens: 1,
  durationMs: 1,
})
const round = {
  number: 2,
  commit: 'c1',
  base: 'c0',
  files: [],
  tasks: [],
  checks: [{ name: 'lint', command: 'lint' }],
  rounds: [],
  earlier: [],
  unfinished: [],
} satisfies Omit<ReviewRound, 'nodeId'>

type Given = {
  readonly round?: Partial<ReviewRound>
  /** How each of the reviewers ends, by name. */
  readonly ends?: Readonly<Record<string, WorkEnd>>
  /** The daemon is down for so long while a check is run. */
  readonly downMs?: number
  readonly check?: () => Promise<object>
}

/** One round of review; what its steps leave, and what was recorded. */
async function reviewed(given: Given) {
  const ends = given.ends ?? { rev: late }
  const closed: string[] = []
  const bed = await openQuickBed(() => [
    {
      name: 'one',
      version: '1',
      async run(flow: Flow) {
        const clock = manualClock()
        const branches = {
          openWorktree: async () => {},
          changes: async () => ({ files: [], diff: '' }),
          restore: async () => {},
          closeWorktree: async (_: string, path: string) => void closed.push(path),
          dropBranch: async () => true,
        }
        const passed = async () => {
          clock.advance(given.downMs ?? 0)
          return { passed: true, output: '', durationMs: 5, exitCode: 0 }
        }
        const workers = { run: async ({ name }: { name: string }) => ends[name] }
        const checks = { run: given.check ?? passed }
        const talk = await Conversation.open({ engine: {}, events: async function* () {} } as never, flow, {
          coordinators: [architect],
          others: [],
        })
        const crew = {
          parts: { workers, clock, branches, checks, worktrees: '/w' },
          input: {
            request: 'r',
            crew: { limits: { maxIterations: 3, progressSeconds: 30 } },
            repo: { root: '/r', inside: '' },
          },
          orchestrator: architect,
          reviewerMs: 300_000,
          reviewers: Object.keys(ends).map(someone),
          delegationParts: () => ({ clock, workers, talk, onBug: () => {}, roundsAt: () => flow.root() }),
        } as unknown as CrewRun
        const { spanId: nodeId } = flow.root()
        return flow.child('review', reviewProcedure(crew), { ...round, nodeId, ...given.round }).result()
      },
    } satisfies Procedure<null, unknown> as Procedure<never, unknown>,
  ])
  await bed.durable().start('one', { id: 'w', input: null, at: await bed.place() })
  const result = (await bed
    .durable()
    .result('w')
    .catch((error: unknown) => error)) as Reviewed
  const events = await bed.events()
  const of = <T extends EventType>(type: T) =>
    events.filter((event): event is EventOf<T> => event.type === type)
  return { result, of, closed }
}

test('[COL-61][COL-68] a reviewer that says nothing has failed: nobody speaks for it, and the rules say what they decide', async () => {
  const { result, of } = await reviewed({})
  expect(of('task.failed')).toMatchObject([
    { taskId: 'review-2', actor: 'rev', payload: { reason: 'it took too long', errorType: 'timeout' } },
  ])
  expect(of('task.completed')).toEqual([])
  expect(
    of('agent.message.created').map(({ payload }) => [payload.messageType, payload.from.agentId]),
  ).toEqual([
    ['review_request', 'arch'],
    ['abort', 'arch'],
  ])
  expect(of('decision.made')).toMatchObject([
    {
      actor: 'test',
      payload: { choice: 'approved', reason: expect.stringContaining('gave no verdict') },
    },
  ])
  expect(result).toMatchObject({
    round: { verdict: 'approved' },
    skipped: [{ what: 'the review by rev' }],
  })
})

test('[COL-33][COL-68] without a word from the reviewer earlier findings still forbid an approval, and so does it when nothing was checked', async () => {
  const earlier = [reviewFinding('r1-x'), reviewFinding('r1-y', { severity: 'minor' })]
  const found = await reviewed({ round: { earlier } })
  expect(found.result).toMatchObject({
    round: { verdict: 'changes_requested', reasons: ['r1-x is major and open'], findings: earlier },
    toFix: earlier,
  })
  expect(found.result.round).not.toHaveProperty('said')
  const unseen = await reviewed({ round: { checks: [] } })
  expect(unseen.result.round).toMatchObject({ verdict: 'changes_requested' })
  const alone = await reviewed({ round: { checks: [] }, ends: {} })
  expect(alone.result.round).toMatchObject({ verdict: 'approved' })
})

test('[COL-69] of several reviewers one is silent: what only it could call mended stays open', async () => {
  const ends = { rev: answered({ verdict: 'approved', summary: 'Good.', findings: [] }), sec: late }
  const { result } = await reviewed({ ends, round: { earlier: [reviewFinding('r1-sec-x')] } })
  expect(result.round).toMatchObject({
    verdict: 'changes_requested',
    findings: [{ finding_id: 'r1-sec-x' }],
    reviews: [
      { agent_id: 'rev', verdict: 'approved' },
      { agent_id: 'sec', verdict: null, summary: 'no verdict: it took\ntoo long' },
    ],
  })
})

test('[COL-68] the time in which the daemon was down takes no check away', async () => {
  const checks = ['lint', 'links'].map((name) => ({ name, command: name }))
  const { result } = await reviewed({ downMs: 3_600_000, round: { checks } })
  expect(result.checks).toMatchObject([{ passed: true }, { name: 'links', required: true, passed: true }])
})

test('[COL-68] checks beyond tests and types are skipped once those before took all the time', async () => {
  const checks = ['lint', 'links', 'tests'].map((name) => ({ name, command: name }))
  const { result } = await reviewed({
    round: { checks },
    check: async () => ({ passed: true, output: '', durationMs: 300_001, exitCode: 0 }),
  })
  expect(result.checks).toMatchObject([
    { name: 'lint', passed: true },
    { name: 'links', passed: null, required: false },
    { name: 'tests', passed: true },
  ])
})

test('[COL-68] a work tree that is not needed goes also when what was done in it failed', async () => {
  const { result, closed } = await reviewed({ check: () => Promise.reject(new Error('no shell')) })
  expect(result).toMatchObject({ message: 'no shell' })
  expect(closed).toEqual(['/w/w.review-2'])
})
