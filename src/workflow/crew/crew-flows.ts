import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { whatIsMissing } from '../../core/delegation/task-failure.ts'
import { reviewWork } from './crew-review.ts'
import type { CrewRun, Ending } from './crew-run.ts'

/** Work that is there already goes to the reviewer; nothing is changed. */
export async function reviewFlow(crew: CrewRun): Promise<Ending> {
  const { base, since = base, reviewed = base } = crew.input.repo
  const checks = requiredChecks(crew.input.crew.checks, undefined)
  const round = await reviewWork(crew, { number: 1, base: since, commit: reviewed, checks, tasks: [] })
  return { outcome: round.verdict === 'approved' ? 'approved' : 'unapproved', summary: round.summary }
}

/** The members in a row, all in one work tree: what each one gives is what the next one is given. */
export async function pipelineFlow(crew: CrewRun): Promise<Ending> {
  const { flow, input, phases, state } = crew
  let given = ''
  const done: PlanTask[] = []
  const unfinished: UnfinishedTask[] = []
  for (const [i, who] of crew.row.entries()) {
    const task = rowTask(input.request, { id: who.id, role: who.member.role, given })
    const phase = { key: `stage-${i + 1}`, inputCount: 1 }
    const result = await phases.run('delegate', phase, async ({ spanId: nodeId }) => {
      const child = flow.child(`r1/${task.task_id}#1`, crew.task, {
        work: { task, attempts: [] },
        number: 1,
        who,
        timeoutMs: crew.developerMs,
        worktree: { path: crew.path, branch: crew.branch, base: input.repo.base },
        needs: [],
        checks: [],
        nodeId,
      })
      return { value: await child.result(), count: 1 }
    })
    const { output, files, failure, durationMs } = result
    state.tasks.set(task.task_id, {
      task_id: task.task_id,
      title: task.title,
      state: result.state,
      files: [...files],
      summary: output.summary,
      duration_ms: durationMs,
      ...(output.blockers && { blockers: output.blockers }),
      ...(failure && { because: failure.error }),
    })
    if (failure) return { outcome: 'aborted', summary: `${who.id} could not do its part: ${failure.error}` }
    given = [output.summary, output.implementation_notes ?? ''].filter((text) => text !== '').join('\n\n')
    done.push(task)
    if (result.state === 'partial')
      unfinished.push({ task_id: task.task_id, why: whatIsMissing({ ...output, failure }) })
  }
  return checkedRow(crew, { tasks: done, unfinished, summary: given })
}

type RowWork = {
  readonly tasks: readonly PlanTask[]
  readonly unfinished: readonly UnfinishedTask[]
  readonly summary: string
}

/** What the row made is good when each did the whole of its part and the checks of the crew say so. */
async function checkedRow(crew: CrewRun, { tasks, unfinished, summary }: RowWork): Promise<Ending> {
  const { flow, parts, path, input } = crew
  const checks = requiredChecks(input.crew.checks, undefined)
  if (checks.length === 0 && unfinished.length === 0) return { outcome: 'approved', summary }
  const commit = await flow.step(
    'made',
    async ({ signal }) => (await parts.branches.head(path, signal)).commit,
  )
  const { base } = input.repo
  const round = await reviewWork(crew, { number: 1, tasks, checks, base, commit, unfinished })
  return {
    outcome: round.verdict === 'approved' ? 'approved' : 'unapproved',
    summary: [round.summary, ...round.reasons].join('\n'),
  }
}

type RowPlace = { readonly id: string; readonly role: string; readonly given: string }

function rowTask(request: string, { id, role, given }: RowPlace): PlanTask {
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
