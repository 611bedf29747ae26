import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { openQuickBed } from '../../../test/support/local-bed.ts'
import type { CrewReport } from '../../contract/collaboration/crew-report.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import { complete } from './complete.ts'
import { CrewPhases } from './crew-phases.ts'

/** The end of a crew; which work trees it found and took away. */
async function completed(used: () => Promise<object>) {
  const closed: string[] = []
  const bugs: string[] = []
  const trees = [
    { path: '/w/w.t1.before', branch: 'muster/w.t1.before' },
    { path: '/w/other.t1.before', branch: 'muster/other.t1.before' },
  ]
  const bed = await openQuickBed(() => [
    {
      name: 'one',
      version: '1',
      run(flow: Flow) {
        const branches = {
          head: async () => ({ commit: 'c1' }),
          changes: async () => ({ files: [], diff: '' }),
          restore: async () => {},
          worktreesIn: async () => trees,
          closeWorktree: async (_: string, path: string) => void closed.push(path),
          dropBranch: async () => true,
        }
        const clock = manualClock()
        const run = {
          flow,
          parts: {
            branches,
            clock,
            worktrees: '/w',
            budgets: { used },
            onBug: (_: unknown, where: string) => bugs.push(where),
          },
          input: { request: 'r', crew: { name: 'pair' }, repo: { root: '/r', base: 'c0', into: null } },
          phases: new CrewPhases({ flow, clock }),
          state: {
            rounds: [],
            tasks: new Map([['t1', { task_id: 't1', title: 'T', state: 'completed', files: [] }]]),
            skipped: [],
            ballots: [],
            checks: [],
            toFix: [],
          },
          orchestrator: { agentId: 'arch', agentType: 'architect' },
          branch: 'muster/w',
          path: '/w/w.all',
        } as unknown as Parameters<typeof complete>[0]
        return complete(run, { outcome: 'approved', summary: 'Good.' }, clock.now())
      },
    } satisfies Procedure<null, unknown> as Procedure<never, unknown>,
  ])
  await bed.durable().start('one', { id: 'w', input: null, at: await bed.place() })
  const report = (await bed.durable().result('w')) as CrewReport
  return { report, closed, bugs }
}

test('[COL-29] the report says what the run cost where somebody tells it', async () => {
  expect((await completed(async () => ({ tokens: 5, usd: 1.25 }))).report.cost_usd).toBe(1.25)
  expect((await completed(async () => ({ tokens: 5, usd: null }))).report.cost_usd).toBeNull()
  const unknown = await completed(() => Promise.reject(new Error('the index hangs')))
  expect(unknown).toMatchObject({ report: { cost_usd: null }, bugs: ['the cost of w'] })
})

test('[COL-29] in the end no work tree of a crew is left, nor one in which a check was run', async () => {
  const { closed } = await completed(async () => ({ tokens: 0, usd: null }))
  expect(closed).toEqual(['/w/w.t1.before', '/w/w.t1', '/w/w.all'])
})
