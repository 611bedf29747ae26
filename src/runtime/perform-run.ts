import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { Draft, PayloadOf } from '../contract/event.ts'
import { muster } from '../contract/principal.ts'
import { type LiveStatus, statusOf } from '../contract/status-phrases.ts'
import type { LoopMode } from '../contract/values.ts'
import { systemPrompt } from '../core/agent-loop/system-prompt.ts'
import type { Denial } from '../core/delegation/gate-call.ts'
import { refuseUnpriced } from '../core/ledger/budget.ts'
import { tokenTotal } from '../core/ledger/model-usage.ts'
import { chooseModels } from '../core/model/choose-models.ts'
import { spanKey } from '../core/session/state.ts'
import { amountOf } from '../engine/budgets.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { Model, ModelMessage } from '../ports/model.ts'
import type { Tool } from '../ports/tools.ts'
import type { RunDeps, RunEnd } from './agent-run.ts'
import { lastLines } from './last-lines.ts'
import { type LiveRun, RunStopped, streamWords } from './live-run.ts'
import { Recorder } from './recorder.ts'
import { runAgent } from './run-agent.ts'
import { endsOf, endsOfTurn } from './run-ends.ts'
import type { OpenedTools, RuntimeParts } from './runtime-parts.ts'
import { questionOf } from './workflow-turn.ts'

/** What a run is performed with. */
export type RunPlan = {
  readonly run: LiveRun
  /** What is written together with its beginning; nothing is begun again when a run is resumed. */
  readonly begins: readonly Draft[] | 'resumed'
  /** The words that it was given, for the record. */
  readonly task: string
  readonly depth: number
  readonly mode: LoopMode
  readonly model?: string | undefined
  readonly callId?: string
  readonly scopes: readonly (readonly string[])[]
  readonly workspace: string
  readonly agents: readonly AgentDefinition[]
  /** The conversation with the new prompt, without what the agent is told first; it grows. */
  readonly messages: ModelMessage[]
  /** How many of them the vault has already. */
  readonly kept: number
  /** How many turns it had before it was cut off. */
  readonly turns?: number | undefined
  readonly tools: (recorder: Recorder) => readonly Tool[]
  /** What stands between the run and each of its tools. */
  readonly wrap?: ((tool: Tool) => Tool) | undefined
  /** Why its last words cannot be taken. */
  readonly refuse?: ((text: string) => string | undefined) | undefined
  readonly takeMessages: (recorder: Recorder) => Promise<readonly string[]>
  readonly refusal: (
    call: { readonly tool: string; readonly input: unknown },
    recorder: Recorder,
  ) => Promise<Denial | undefined>
}

/** How a run came to its end: by itself, or from outside. */
export type RunOutcome = RunEnd | { readonly status: 'stopped'; readonly why: RunStopped }

/** Runs an agent to its one end. Whatever happens in between, the end is written; only a stopping daemon may leave it out. */
export async function performRun(parts: RuntimeParts, plan: RunPlan): Promise<RunOutcome> {
  const { run } = plan
  const recorder = new Recorder({
    perform: (drafts) => parts.engine.perform(drafts),
    onFailure: (error) => {
      const why = error instanceof Error ? error.message : String(error)
      run.stop(new RunStopped('cancelled', muster, `it could not be recorded: ${why}`))
    },
    clock: parts.clock,
  })
  try {
    const opened = await openChosen(parts, { run, model: plan.model }, run.signal).catch(
      (error: unknown) => ({ error }),
    )
    // A message that nothing was done with yet goes on waiting for the next daemon.
    if (plan.begins !== 'resumed' && isForDaemon(run)) return { status: 'stopped', why: run.signal.reason }
    begin(recorder, plan, opened)
    // What was said to it is taken before it looks for more; where nobody said anything, it asks its model meanwhile.
    if (plan.begins === 'resumed' || plan.begins.length > 0) await recorder.durable().catch(() => {})
    const outcome = await outcomeOf(parts, plan, { opened, recorder })
    // The end goes to disk together with what came last; one that cannot be recorded so is written by itself.
    recorder.record(async () => endsLeft(parts, run, outcome))
    await recorder.durable().catch(() => {})
    await writeEnd(parts, run, outcome)
    return outcome
  } finally {
    run.finished()
  }
}

const isForDaemon = ({ signal }: LiveRun): boolean =>
  signal.aborted && signal.reason instanceof RunStopped && signal.reason.how === 'daemon'

type Opening = OpenedModels | { readonly error: unknown }

function begin(recorder: Recorder, plan: RunPlan, opened: Opening): void {
  const { run, begins, depth, task, callId } = plan
  const { agent } = run
  const model = 'error' in opened ? undefined : opened.models[0].id
  const at = { ...run.root, parentSpanId: run.parentSpanId }
  const { agentId, turn } = run
  if (begins !== 'resumed')
    recorder.record([
      ...begins,
      turn === undefined
        ? draftOf(at, 'agent.spawned', {
            agentId,
            agentType: agent.name,
            kind: agent.kind,
            agentTask: task,
            depth,
            ...(model && { model }),
            ...(callId && { triggeredByCallId: callId }),
          })
        : draftOf(run.root, 'agent.message.created', {
            messageId: questionOf(run.runId, turn),
            from: { agentId: 'user', agentType: 'user' },
            to: { agentId, agentType: agent.name },
            text: task,
          }),
    ])
  else recorder.record([draftOf(run.root, 'decision.made', resumed())])
  if (!('error' in opened)) recorder.record([draftOf(run.root, 'decision.made', opened.decision)])
}

/** From here on a run goes on after a restart. */
const resumed = (): PayloadOf<'decision.made'> => ({
  subject: 'retry',
  candidates: ['fail', 'resume'],
  choice: 'resume',
  reason: 'Muster was stopped while it worked (runtime.on_restart)',
})

async function outcomeOf(
  parts: RuntimeParts,
  plan: RunPlan,
  { opened, recorder }: { readonly opened: Opening; readonly recorder: Recorder },
): Promise<RunOutcome> {
  const { run } = plan
  let extra: OpenedTools | undefined
  try {
    if ('error' in opened) throw opened.error
    const { runtime } = await parts.settingsIn(plan.workspace, run.signal)
    run.settings = runtime
    extra = await parts.openTools(run.agent, plan.workspace, run.signal)
    for (const { server, reason } of extra.problems)
      recorder.record([
        draftOf(run.root, 'decision.made', {
          subject: 'tool',
          candidates: [server],
          choice: `the run continues without ${server}`,
          reason,
        }),
      ])
    return await runAgent(depsOf(parts, plan, recorder), {
      root: run.root,
      agent: run.agent,
      mode: plan.mode,
      depth: plan.depth,
      scopes: plan.scopes,
      models: opened.models,
      maxIters: run.agent.maxIters ?? runtime.max_iters,
      workspace: plan.workspace,
      tools: new Map(
        [...extra.tools, ...parts.tools, ...plan.tools(recorder)].map((tool) => [
          tool.name,
          plan.wrap?.(tool) ?? tool,
        ]),
      ),
      agents: new Map(
        plan.agents.flatMap((agent) => [agent.name, ...agent.aliases].map((name) => [name, agent] as const)),
      ),
      messages: withSystem(parts, plan),
      kept: plan.kept + 1,
      turns: plan.turns ?? 0,
      seen: new Map(),
      seenBefore: run.seenBefore,
      signal: run.signal,
    })
  } catch (error) {
    if (run.signal.aborted) return { status: 'stopped', why: run.signal.reason as RunStopped }
    return { status: 'failed', reason: error instanceof Error ? error.message : String(error) }
  } finally {
    await extra?.close()
  }
}

/** The messages of the plan with the prompt of the agent before them, growing together with them. */
function withSystem(
  parts: RuntimeParts,
  { run, workspace, agents, depth, messages }: RunPlan,
): ModelMessage[] {
  const date = new Date(parts.clock.now()).toISOString().slice(0, 10)
  messages.unshift({ role: 'system', text: systemPrompt(run.agent, { workspace, date, agents, depth }) })
  return messages
}

function depsOf(parts: RuntimeParts, plan: RunPlan, recorder: Recorder): RunDeps {
  const { clock, ids, chance, config, vault, prices } = parts
  const { run } = plan
  const { models, runtime } = config()
  const { textStream, onToken } = parts
  const words = streamWords({ textStream, onToken: (delta) => recorder.tell(() => onToken(delta)) }, run)
  const onStatus = (status: LiveStatus): void => {
    if (status.status === run.status?.status && status.detail === run.status.detail) return
    run.status = status
    recorder.record([draftOf(run.root, 'agent.status.changed', { agentId: run.agentId, ...status })])
  }
  return {
    clock,
    newSpan: () => ids.span(),
    record: recorder.record,
    durable: recorder.durable,
    keep: (value) => vault.put(new TextEncoder().encode(JSON.stringify(value)), run.root.sessionId),
    chance,
    retry: {
      maxAttempts: models.retry.max_attempts,
      firstMs: models.retry.first_ms,
      longestMs: models.retry.longest_ms,
    },
    takeMessages: () => plan.takeMessages(recorder),
    onPiece(piece) {
      onStatus(statusOf.thinking())
      words.piece(piece)
    },
    onStatus,
    output: (tool) => lastLines(parts, run, tool),
    onChanges(changes) {
      run.changed()
      for (const { path } of changes) run.files.set(path, clock.now())
    },
    onTurn: () => words.turnEnds(),
    prices,
    onUsed: ({ turn: { usage }, model }) => run.used({ usage, ...prices.estimate(model.id, usage) }),
    refuse: plan.refuse,
    spent: () => overBudget(parts, run, recorder),
    async refusal({ tool, input }) {
      const path = fileOf(input)
      if (path !== undefined) run.files.set(path, clock.now())
      return plan.refusal({ tool, input }, recorder)
    },
    resultChars: runtime.result_chars,
    compactAt: ({ provider }) =>
      runtime.compact_at * (models.providers[provider]?.context_tokens ?? runtime.context_tokens),
  }
}

function fileOf(input: unknown): string | undefined {
  const path =
    typeof input === 'object' && input !== null && 'file_path' in input ? input.file_path : undefined
  return typeof path === 'string' ? path : undefined
}

/** The end of a run, unless what is above it has ended it already. */
function endsLeft(parts: RuntimeParts, run: LiveRun, outcome: RunOutcome): Draft[] {
  const state = parts.engine.session(run.root.sessionId)
  const isOpen = state?.open.has(spanKey(state, run.root)) ?? false
  if (!isOpen) return []
  const { turn } = run
  return turn === undefined ? endsOf(run, outcome, parts.clock.now()) : endsOfTurn(run, outcome, turn)
}

async function writeEnd(parts: RuntimeParts, run: LiveRun, outcome: RunOutcome): Promise<void> {
  // The end of a turn closes nothing that would be left open.
  if (run.turn !== undefined) return
  const drafts = endsLeft(parts, run, outcome)
  if (drafts.length > 0) await parts.engine.perform(drafts)
}

/** The models of a run, and how they were chosen. */
type OpenedModels = {
  readonly models: readonly [Model, ...Model[]]
  readonly decision: PayloadOf<'decision.made'>
}

/** Chooses the models of a run and opens them. */
async function openChosen(
  { models, config, slots, prices, budgets }: RuntimeParts,
  wish: { readonly run: LiveRun; readonly model?: string | undefined },
  signal: AbortSignal,
): Promise<OpenedModels> {
  const { agent, root } = wish.run
  const statuses = await models.list(signal)
  const chosen = chooseModels({
    agent: agent.model,
    override: wish.model,
    config: config().models,
    statuses,
  })
  const [first, ...others] = chosen.models
  const isMoneyBound = agent.budget?.usd !== undefined || budgets.isMoneyBound(root.sessionId)
  if (isMoneyBound) refuseUnpriced(prices, [first.id])
  // A model without a price would spend what nobody counts.
  const rest = isMoneyBound ? others.filter(({ id }) => prices.knows(id)) : others
  const name = ({ provider, id }: { provider: string; id: string }) => `${provider}/${id}`
  return {
    models: [
      slots.guard(await models.open(first)),
      ...(await Promise.all(rest.map(async (ref) => slots.guard(await models.open(ref))))),
    ],
    decision: {
      subject: 'model',
      candidates: [
        ...chosen.models.map(name),
        ...chosen.passedOver.map(({ model, why }) => `${model} (${why})`),
      ],
      choice: name(first),
      reason: chosen.reason,
    },
  }
}

const minuteMs = 60_000

/** Why a run has to stop: its agent's budget, its time, or the budget of its session or of one above it is used up. */
async function overBudget(
  { clock, budgets }: Pick<RuntimeParts, 'clock' | 'budgets'>,
  run: LiveRun,
  recorder: Recorder,
): Promise<string | undefined> {
  const { tokens, usd, minutes } = run.agent.budget ?? {}
  const used = tokenTotal(run.usage)
  const exceeded = (budget: 'tokens' | 'usd' | 'time', spent: number, limit: number): string => {
    const scope = run.agentId
    recorder.record([
      draftOf(run.root, 'budget.exceeded', { budget, used: spent, limit, scope, action: 'stopped' }),
    ])
    if (budget === 'time') return `it took longer than the ${minutes} minutes that ${scope} may take`
    if (budget === 'usd')
      return `the budget of ${scope} is used up: ${amountOf({ budget, used: spent, limit })}`
    return `it used ${spent} tokens of the ${limit} that ${scope} may use`
  }
  if (tokens !== undefined && used >= tokens) return exceeded('tokens', used, tokens)
  if (usd !== undefined && run.costUsd >= usd) return exceeded('usd', run.costUsd, usd)
  const tookMs = clock.now() - run.startedMs
  if (minutes !== undefined && tookMs >= minutes * minuteMs)
    return exceeded('time', tookMs, minutes * minuteMs)
  const { sessionId } = run.root
  if (!budgets.isBound(sessionId)) return undefined
  // What it used itself counts too, before it uses more. A run that cannot be recorded is stopped by that.
  await recorder.durable().catch(() => {})
  const over = await budgets.over(sessionId)
  return over && `the budget of ${over.name} is used up (${amountOf(over.use)}); raise it with: sm budget`
}
