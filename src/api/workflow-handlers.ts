import { CrewReport } from '../contract/collaboration/crew-report.ts'
import type { Crew } from '../contract/crew.ts'
import type { LoadedCrews } from '../contract/crew-definition.ts'
import { AppError } from '../contract/errors.ts'
import { isFact } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { WorkflowRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { Api } from '../contract/routes.ts'
import { type ScriptSource, scriptHash } from '../contract/script.ts'
import type { Budget } from '../contract/values.ts'
import type { WorkflowView, workflowRoutes } from '../contract/workflow-routes.ts'
import { reportMarkdown } from '../core/collaboration/crew-report.ts'
import { findCrew } from '../core/definitions/find-definition.ts'
import { unknownCli } from '../core/definitions/resolve-crews.ts'
import { refuseUncountedMoney, type Worker } from '../core/ledger/budget.ts'
import type { PriceBook } from '../core/ledger/price-book.ts'
import type { Engine } from '../engine/engine.ts'
import type { Branches } from '../ports/branches.ts'
import type { FileTrust } from '../ports/definitions.ts'
import type { ProjectFiles } from '../ports/files.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { CrewInput } from '../workflow/crew/crew-parts.ts'
import { type ScriptInput, scriptName } from '../workflow/script/script-procedure.ts'
import type { Workflows } from '../workflow/workflows.ts'
import type { CollaborationFiles } from './collaboration-files.ts'
import { refuseLooserCrew, withWishes } from './crew-wishes.ts'
import type { Directory } from './directory.ts'
import { approvalView } from './session-views.ts'
import { askerOf, mayAct, refuseBehindWalls, refuseOnDuty, seenBy, within } from './who-may.ts'
import { type ChooseWorkers, scriptWorker, whyOf } from './worker-choices.ts'

export type WorkflowHandlerDeps = {
  /** The coding CLIs and the programs of the settings. */
  readonly clis: () => readonly string[]
  readonly workflows: Workflows
  readonly branches: Branches
  readonly scripts: Scripts
  readonly directory: Directory
  readonly engine: Engine
  readonly files: Pick<CollaborationFiles, 'pathOf'>
  readonly projects: ProjectFiles
  /** What a person trusts in a project. */
  readonly trustIn: (root: string) => FileTrust
  readonly prices: Pick<PriceBook, 'knows'>
  readonly choose: ChooseWorkers
  /** The model that the agent file of a project names. */
  readonly modelOf: (root: string, agent: string, signal: AbortSignal) => Promise<string | undefined>
  readonly crewsOf: (root: string, signal: AbortSignal) => Promise<LoadedCrews<Crew>>
}

const titleChars = 200

/** What stands behind the routes of workflows. */
export function workflowHandlers(deps: WorkflowHandlerDeps): Pick<Api, keyof typeof workflowRoutes> {
  const { workflows, branches, directory, engine, projects } = deps
  const rowOf = async (word: string, principal: Principal): Promise<WorkflowRow> => {
    await directory.caughtUp()
    const [found] = await directory.ask('workflows', { workflowId: word, limit: 1 })
    const named = await seenBy(directory, principal, found)
    if (named) return named
    const { sessionId, shortId: short } = await directory.find(word, principal).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
      throw new AppError('not_found', `there is no workflow called ${word}; sm workflow list shows them`)
    })
    const [first] = (await directory.ask('workflows', { sessionId, limit: 100 })).slice(-1)
    if (!first) throw new AppError('not_found', `${short} is not a workflow; sm workflow list shows them`)
    return first
  }
  /** One that a caller may act on; what was imported of another machine is only read. */
  const reach = async (word: string, principal: Principal): Promise<WorkflowRow> => {
    const row = await rowOf(word, principal)
    await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
    if ((await engine.known(row.sessionId))?.managed) return row
    throw new AppError('conflict', `${row.workflowId} is only a record; nothing of it was run here`)
  }
  const viewOf = async (given: WorkflowRow): Promise<WorkflowView> => {
    const { workflowId } = given
    const flows = given.status === 'running' ? await workflows.list() : []
    const status = flows.find(({ id }) => id === workflowId)?.status ?? given.status
    // It may have ended since it was looked up; then its figures are known by now.
    const isNews = given.status === 'running' && status !== 'running' && status !== 'pending'
    const [row = given] = isNews ? await directory.ask('workflows', { workflowId, limit: 1 }) : [given]
    const session = await directory.find(row.sessionId)
    return {
      workflow_id: row.workflowId,
      session_id: shortId(row.sessionId),
      name: row.name ?? '',
      title: session.title ?? null,
      version: row.version,
      status,
      phase: row.phase,
      steps: row.steps,
      agents: row.totalAgents,
      tokens: row.totalTokens,
      detail: row.detail,
      fork_of: row.forkOf,
      working_dir: session.workingDir ?? null,
      branch: row.name === 'crew' ? `muster/${row.workflowId}` : null,
      session_file: session ? await deps.files.pathOf(session) : null,
      started_at: timeOf(row.startedMs),
      ended_at: timeOf(row.endedMs),
    }
  }
  const standsOf = async (row: WorkflowRow): Promise<string> => {
    const { status } = await viewOf(row)
    if (status === 'running') return 'it is already running; sm workflow show shows its progress'
    const then =
      row.name === scriptName ? 'sm workflow fork starts a new one from what it did' : 'start another'
    return `it has ${status === 'completed' ? 'completed' : `ended (${status})`}; ${then}`
  }
  const refuseUnknownCli = (cli: string | undefined): void => {
    const why = cli && unknownCli(cli.toLowerCase(), deps.clis())
    if (why) throw new AppError('invalid', why)
  }
  const refuseMoney = (usd: number | undefined, workers: readonly Worker[]) => {
    if (usd !== undefined) refuseUncountedMoney(usd, deps.prices, workers)
  }
  /** Everybody that a crew needs, chosen before anything starts: what is missing is refused now. */
  const staffed = async (crew: Crew, root: string, signal: AbortSignal) => {
    const wanted = crew.members.map(async ({ agent, cli, model }) => ({
      cli,
      override: model,
      agent: await deps.modelOf(root, agent, signal),
    }))
    const chosen = await deps.choose(await Promise.all(wanted), signal)
    const members = crew.members.map((member, i) => ({ ...member, cli: chosen[i]?.cli ?? 'own' }))
    const models = chosen.map((one, i) => one.chosen?.models[0].id ?? crew.members[i]?.model)
    const workers = members.map(({ cli }, i): Worker => ({ cli, model: models[i] }))
    return { crew: { ...crew, members }, workers, why: whyOf(chosen) }
  }
  return {
    async startCrew(asked, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      refuseBehindWalls(engine, principal)
      const root = await projects.folder(asked.project_root)
      const found = findCrew(await deps.crewsOf(root, signal), asked.crew ?? asked.pattern ?? 'balanced')
      if (asked.pattern !== undefined && found.pattern !== asked.pattern)
        throw new AppError(
          'invalid',
          `the crew ${found.name} works as ${found.pattern}; leave out the pattern ${asked.pattern}, or name another crew, see: sm crews list`,
        )
      if (principal.kind === 'session') refuseLooserCrew(found, asked)
      refuseUnknownCli(asked.cli)
      const { crew, workers, why } = await staffed(withWishes(found, asked), root, signal)
      const { minutes: _minutes, ...budget } = crew.budget ?? {}
      refuseMoney(budget.usd, workers)
      const styleGuide = await projects.styleGuide(root, crew, signal)
      const head = await branches.head(root, signal)
      const parent = principal.kind === 'session' ? engine.session(principal.sessionId) : undefined
      const judged =
        crew.flow === 'review' || crew.vote?.on === 'diff'
          ? await branches.underReview(root, signal)
          : undefined
      const input: CrewInput = {
        request: asked.request,
        crew,
        ...(styleGuide !== undefined && { styleGuide }),
        repo: {
          root: head.root,
          base: head.commit,
          into: head.branch,
          inside: head.inside,
          ...(judged && { reviewed: judged.commit, since: judged.since }),
        },
      }
      const planner = crew.members.find(({ duty }) => duty === 'plan')
      const { sessionId, workflowId } = await workflows.begin({
        procedure: 'crew',
        input,
        workspace: root,
        by: askerOf(engine, principal),
        kind: 'crew',
        title: asked.request.split('\n', 1)[0]?.slice(0, titleChars) ?? '',
        prompt: asked.request,
        name: asked.name,
        parent,
        budget: budgetOf(budget),
        ...(planner?.cli === 'own' && { architect: { agentId: planner.id, agentType: planner.role } }),
        collaboration: {
          mode: 'multi_agent',
          pattern: crew.pattern,
          orchestrator: { agentId: planner?.id ?? 'crew', agentType: planner?.role ?? 'architect' },
          participants: crew.members
            .filter((member) => member !== planner)
            .map(({ id, role }) => ({ agentId: id, agentType: role })),
        },
      })
      return { workflow_id: workflowId, session_id: shortId(sessionId), branch: `muster/${workflowId}`, why }
    },
    async listWorkflows({ limit }, { principal }) {
      await directory.caughtUp()
      const rows = await directory.ask('workflows', { limit, ...within(principal) })
      return { workflows: await Promise.all(rows.map(viewOf)) }
    },
    async getWorkflow({ id }, { principal }) {
      const row = await rowOf(id, principal)
      const { sessionId } = row
      await mayAct(directory, principal, { sessionId, isOwnAllowed: true })
      // How it stands is read before what it gave: whoever is told that it is done finds its report.
      const view = await viewOf(row)
      const tasks = await directory.ask('tasks', { sessionId, limit: 1000 })
      const asked = await askedIn(deps, sessionId)
      const { result, partial = null } = await endOf(deps, row)
      // While somebody is asked to land it, the report is there and the workflow goes on.
      const report = reportOf(result) ?? (await reportSoFar(deps, row))
      return {
        ...view,
        tasks: tasks.map((task) => ({
          task_id: task.taskId,
          description: task.description,
          status: task.status ?? 'planned',
          agent: task.agentId,
          dependencies: [...task.dependencies],
          detail: task.summary,
        })),
        approvals: await Promise.all(asked.map((one) => approvalView(directory, one))),
        report,
        report_text: report && reportMarkdown(report),
        result:
          row.name === scriptName ? ((result as { result?: unknown } | undefined)?.result ?? null) : null,
        partial,
      }
    },
    async startScript(asked, { principal, signal }) {
      const { script, project_root, args, cli, limits, approved, unattended, unsafe = false } = asked
      await refuseOnDuty(engine, principal)
      refuseBehindWalls(engine, principal)
      if (unsafe && principal.kind !== 'operator')
        throw new AppError('denied', 'only a person runs a script without walls; leave out unsafe')
      await deps.scripts.requireWalls(unsafe, signal)
      const root = await projects.folder(project_root)
      const file = await projects.script(root, script)
      const { meta, source } = await deps.scripts.describe(file)
      const { tokens, usd } = limits
      refuseUnknownCli(cli)
      const worker = await scriptWorker(deps.choose, { cli, source }, signal)
      refuseMoney(usd, [worker])
      const by = askerOf(engine, principal)
      // What an agent starts a person approves: it carries no authority of theirs.
      const isApproved =
        principal.kind === 'operator' &&
        (approved === true || (!unsafe && isTrusted(deps.trustIn(root), { root, file, source })))
      if (!isApproved && unattended === true)
        throw new AppError(
          'conflict',
          `${meta.name} needs approval, and nobody can be asked here; run it with --yes, or with -d and answer it with: sm approve`,
        )
      const input: ScriptInput = {
        meta,
        source,
        args: args ?? null,
        workspace: root,
        cli: worker.cli,
        limits,
        ...(unsafe && { unsafe: scriptHash(source) }),
        ...(isApproved && { approvedBy: by.name }),
      }
      const { sessionId, workflowId } = await workflows.begin({
        procedure: scriptName,
        input,
        workspace: root,
        by,
        kind: meta.name,
        title: meta.description.slice(0, titleChars),
        prompt: scriptPrompt(meta, args),
        parent: principal.kind === 'session' ? engine.session(principal.sessionId) : undefined,
        budget: budgetOf({ tokens, usd }),
      })
      return { workflow_id: workflowId, session_id: shortId(sessionId), why: worker.why }
    },
    async resumeWorkflow({ id }, { principal }) {
      const row = await reach(id, principal)
      if (!(await workflows.resume(row.workflowId, askerOf(engine, principal))))
        throw new AppError('conflict', `${row.workflowId} cannot be resumed: ${await standsOf(row)}`)
      return viewOf(await rowOf(row.workflowId, principal))
    },
    async forkWorkflow({ id, before, unsafe = false }, { principal, signal }) {
      const row = await reach(id, principal)
      if (row.name === scriptName) await deps.scripts.requireWalls(unsafe, signal)
      const view = await viewOf(row)
      const { prompt } = await directory.find(row.sessionId)
      const wish = {
        workspace: view.working_dir ?? '/',
        by: askerOf(engine, principal),
        kind: row.workflowId.replace(/-[0-9a-f]{8}.*$/, ''),
        title: view.title ?? '',
        ...(prompt !== null && { prompt }),
        parent: undefined,
        // As much again: what the one before used is not counted twice.
        budget: (await engine.known(row.sessionId))?.managed?.budget,
      }
      const { sessionId, workflowId } = await workflows.fork(row.workflowId, wish, {
        ...(before !== undefined && { before }),
        ...(row.name === scriptName && { input: (known) => agreedAnew(known as ScriptInput, unsafe) }),
      })
      return { workflow_id: workflowId, session_id: shortId(sessionId) }
    },
    async cancelWorkflow({ id, reason }, { principal }) {
      const row = await reach(id, principal)
      const by = askerOf(engine, principal)
      const reached = await workflows.cancel(row.workflowId, {
        by,
        reason: reason ?? `cancelled by ${by.name}`,
      })
      if (reached !== 'delivered')
        throw new AppError(
          'conflict',
          `${row.workflowId} is not running: it is ${(await viewOf(row)).status}`,
        )
      return viewOf(await rowOf(row.workflowId, principal))
    },
  }
}

/** What a person asks for who runs a script. */
const scriptPrompt = ({ description }: ScriptInput['meta'], args: unknown): string =>
  args === undefined || args === null ? description : `${description}\n\n${JSON.stringify(args)}`

/** A script of the project, exactly as it was when a person trusted it. */
const isTrusted = (
  trusts: FileTrust,
  { root, file, source }: { readonly root: string; readonly file: string; readonly source: ScriptSource },
): boolean => file.startsWith(`${root}/`) && trusts(file.slice(root.length + 1), scriptHash(source))

/** The input of a fork: that one run goes without walls was agreed to for that run alone. */
function agreedAnew({ unsafe: _ofTheOther, ...input }: ScriptInput, isUnsafe: boolean): ScriptInput {
  return { ...input, ...(isUnsafe && { unsafe: scriptHash(input.source) }) }
}

/** What waits for a person, in the workflow itself and in the programs that work for it. */
async function askedIn({ directory, engine }: WorkflowHandlerDeps, sessionId: SessionId) {
  const below = [...engine.sessions()].filter(
    ({ parentSessionId, asks = [] }) => parentSessionId === sessionId && asks.length > 0,
  )
  const ids = [sessionId, ...below.map((one) => one.sessionId)]
  const found = ids.map((id) => directory.ask('approvals', { sessionId: id, isPending: true }))
  return (await Promise.all(found)).flat()
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** What a workflow gave, or what it had come to before it failed. */
async function endOf(
  { directory }: WorkflowHandlerDeps,
  { sessionId, workflowId }: WorkflowRow,
): Promise<{ readonly result?: unknown; readonly partial?: unknown }> {
  for (const type of ['workflow.finalized', 'workflow.failed'] as const) {
    const { events } = await directory.events({ sessionId, type, after: 0, limit: 100 })
    const end = events.find((event) => event.type === type && event.workflowId === workflowId)
    if (end?.type === 'workflow.finalized' || end?.type === 'workflow.failed') return end.payload
  }
  return {}
}

/** The report of a crew that has made it and has not ended. */
async function reportSoFar(
  { directory }: WorkflowHandlerDeps,
  { sessionId, workflowId }: WorkflowRow,
): Promise<CrewReport | null> {
  const { events } = await directory.events({ sessionId, type: 'result.summary', after: 0, limit: 100 })
  const last = events.findLast((event) => event.workflowId === workflowId && isFact(event))
  return last?.type === 'result.summary' ? reportOf(last.payload) : null
}

function budgetOf({ tokens, usd }: Budget): Budget | undefined {
  if (tokens === undefined && usd === undefined) return undefined
  return { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }) }
}

function reportOf(result: unknown): CrewReport | null {
  const report = CrewReport.safeParse((result as { report?: unknown } | undefined)?.report)
  return report.success ? report.data : null
}
