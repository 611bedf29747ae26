import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { whatIsMissing } from '../../core/delegation/task-failure.ts'
import { announce } from './announce.ts'
import { developerMs } from './crew-parts.ts'
import { type CrewRun, type Ending } from './crew-run.ts'
import { develop } from './develop.ts'
import { review } from './review.ts'

/** The members in a row, all in one work tree: what each one gives is what the next one is given. */
export async function pipelineFlow(run: CrewRun): Promise<Ending> {
  const { flow, input, stages } = run
  await announce(run, { script: input.request, fanOut: 1 })
  let given = ''
  const done: PlanTask[] = []
  const unfinished: UnfinishedTask[] = []
  for (const [i, who] of run.row.entries()) {
    const task = stageTask(run, { id: who.id, role: who.member.role, given })
    const result = await stages.run('delegate', { key: `stage-${i + 1}`, inputCount: 1 }, async (at) => {
      const child = flow.child(`r1/${task.task_id}#1`, develop(run.around(at)), {
        work: { task, attempts: [] },
        number: 1,
        who,
        timeoutMs: developerMs(input),
        worktree: { path: run.path, branch: run.branch, base: input.repo.base },
        needs: [],
        checks: [],
      })
      return { value: await child.result(), count: 1 }
    })
    const { output, files, failure, state, durationMs } = result
    run.tasks.set(task.task_id, {
      task_id: task.task_id,
      title: task.title,
      state,
      files: [...files],
      summary: output.summary,
      duration_ms: durationMs,
      ...(output.blockers && { blockers: output.blockers }),
      ...(failure && { because: failure.error }),
    })
    if (failure) return { outcome: 'aborted', summary: `${who.id} could not do its part: ${failure.error}` }
    given = [output.summary, output.implementation_notes ?? ''].filter((text) => text !== '').join('\n\n')
    done.push(task)
    if (state === 'partial')
      unfinished.push({
        task_id: task.task_id,
        why: whatIsMissing({ ...result.output, failure: result.failure }),
      })
  }
  return checked(run, { tasks: done, unfinished, summary: given })
}

type Made = {
  readonly tasks: readonly PlanTask[]
  readonly unfinished: readonly UnfinishedTask[]
  readonly summary: string
}

/** What the row made is good when each did the whole of its part and the checks of the crew say so. */
async function checked(run: CrewRun, { tasks, unfinished, summary }: Made): Promise<Ending> {
  const checks = requiredChecks(run.input.crew.checks, undefined)
  if (checks.length === 0 && unfinished.length === 0) return { outcome: 'approved', summary }
  const commit = await run.flow.step(
    'made',
    async ({ signal }) => (await run.parts.branches.head(run.path, signal)).commit,
  )
  const { base } = run.input.repo
  const round = await review(run, { number: 1, tasks, checks, base, commit, unfinished })
  return {
    outcome: round.verdict === 'approved' ? 'approved' : 'unapproved',
    summary: [round.summary, ...round.reasons].join('\n'),
  }
}

function stageTask(run: CrewRun, { id, role, given }: { id: string; role: string; given: string }): PlanTask {
  const { request } = run.input
  const before = given === '' ? '' : `\n\nThe output of the member before you:\n\n${given}`
  return {
    task_id: id.replaceAll('_', '-').slice(0, 40),
    title: `${role}: ${request.split('\n', 1)[0] ?? ''}`.slice(0, 200),
    description: `The request:\n\n${request}\n\nYou are the ${role} in a pipeline of agents in one work tree. Do only your part of it.${before}`,
    scope: ['**'],
    depends_on: [],
    acceptance_criteria: [],
    priority: 'medium',
    testing_required: false,
  }
}
