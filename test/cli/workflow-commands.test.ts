import { expect, test } from 'vitest'
import { sessionCommands } from '../../src/cli/commands/sessions.ts'
import { workflowCommands } from '../../src/cli/commands/workflows.ts'
import type { CommandInput } from '../../src/contract/cli.ts'
import type { WorkflowDetail, WorkflowView } from '../../src/contract/workflow-routes.ts'
import { recorder } from './recorder.ts'
import { ended, now } from './session-data.ts'
import { collect, world } from './world.ts'

const { crew, 'workflow list': list, 'workflow run': run, 'workflow show': show } = workflowCommands
const view = { width: 100, now, color: false }
const id = 'crew-1749a2fe'

const flow = (status: WorkflowView['status'], more: Partial<WorkflowDetail> = {}): WorkflowDetail => ({
  workflow_id: id,
  session_id: '1749a2fe',
  name: 'crew',
  title: 'Add login',
  version: '4',
  status,
  phase: 'complete',
  steps: 1,
  agents: 1,
  tokens: 1,
  detail: status === 'completed' ? null : 'its work was not landed: not now',
  fork_of: null,
  working_dir: '/work/app',
  branch: `muster/${id}`,
  session_file: null,
  started_at: null,
  ended_at: null,
  tasks: [],
  approvals: [],
  report: null,
  report_text: null,
  result: null,
  partial: null,
  ...more,
})

const crewInput: CommandInput<'crew'> = {
  request: 'Add login',
  name: undefined,
  pattern: undefined,
  choice: [],
  cli: undefined,
  model: undefined,
  'max-iterations': undefined,
  budget: [],
  minutes: undefined,
  'approve-plan': false,
  detach: false,
}
const runInput: CommandInput<'workflow run'> = {
  script: 'audit',
  args: undefined,
  cli: undefined,
  agents: undefined,
  tokens: undefined,
  usd: undefined,
  minutes: undefined,
  concurrency: undefined,
  yes: true,
  unsafe: false,
  detach: false,
}

/** A daemon whose workflow has ended like this. */
function ending(status: WorkflowView['status'], more: Partial<WorkflowDetail> = {}) {
  const begun = { workflow_id: id, session_id: '1749a2fe', branch: `muster/${id}`, why: '' }
  const { client } = recorder({
    startCrew: [begun],
    startScript: [begun],
    getWorkflow: [flow(status, more)],
    listEvents: [{ events: [] }],
  })
  return world({ client }).io
}

test('[MUS-368] a workflow that has ended without what was asked for exits with 1, whichever command shows it', async () => {
  for (const status of ['failed', 'rejected', 'cancelled'] as const) {
    expect(show.exitCode?.(flow(status)), status).toBe(1)
    const told = { code: 'failed', message: `${id} is ${status}: its work was not landed: not now` }
    await expect(collect(crew.text(crewInput, ending(status)))).rejects.toMatchObject(told)
    await expect(collect(run.text(runInput, ending(status)))).rejects.toMatchObject(told)
  }
  for (const status of ['completed', 'running', 'pending'] as const)
    expect(show.exitCode?.(flow(status)), status).toBe(0)
  expect((await collect(crew.text(crewInput, ending('completed')))).join('')).toContain('✓ crew-1749a2fe')
  expect((await collect(run.text(runInput, ending('completed')))).join('')).toContain('✓ crew-1749a2fe')
  for (const completion_status of ['failed', 'rejected'] as const)
    expect(sessionCommands.wait.exitCode?.(rejectedSession(completion_status))).toBe(1)
})

test('[COL-29] a crew whose work waits to be landed has done what it was asked for: its report and the question are shown', async () => {
  const land = {
    approval_id: 'apr_1',
    session_id: '1749a2fe',
    name: id,
    subject: 'land',
    action: 'Land it?',
    options: [],
  }
  const waiting = { phase: 'land', approvals: [land] as never, report_text: '# Approved: Add login\n' }
  const said = (await collect(crew.text(crewInput, ending('running', waiting)))).join('')
  expect(said).toMatch(/# Approved: Add login[^]*Land it\?[^]*sm approve apr_1/)
  expect(list.render({ workflows: [flow('running', waiting)] }, view, {} as never)).toMatch(
    /● +crew-1749a2fe +land/,
  )
})

test('[MUS-368] the word of its end is shown with why: in the list, on its page and where its session is waited for', () => {
  const rejected = flow('rejected')
  expect(list.render({ workflows: [rejected] }, view, {} as never)).toMatch(
    /✗ +crew-1749a2fe +rejected .*its work was not landed: not now/,
  )
  const page = show.render({ ...rejected, report_text: '# Approved: Add login\n' }, view, {} as never)
  expect(page).toBe('✗ rejected\nits work was not landed: not now\n\n# Approved: Add login')
  expect(show.render({ ...flow('completed'), report_text: '# Approved\n' }, view, {} as never)).toBe(
    '# Approved',
  )
  expect(sessionCommands.wait.render(rejectedSession('rejected'), view, {} as never)).toBe(
    'crew-1749a2fe (1749a2fe) | rejected | "its work was not landed: not now"',
  )
})

const rejectedSession = (completion_status: 'failed' | 'rejected') =>
  ({
    ...ended('1749a2fe', 1),
    name: id,
    status: 'error',
    completion_status,
    completion_message: 'its work was not landed: not now',
  }) as never
