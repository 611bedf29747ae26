import type { Decision, GateAnswer } from '../../contract/decision.ts'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import {
  type Foreign,
  foreign,
  foreignCount,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../contract/formats/foreign-json.ts'
import { chosenLabels } from '../../contract/question-answers.ts'
import type { Signal } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import { compactionOf, jsonReply, toolNamed } from '../system/hook-payload.ts'

/** What the plugin tells; each payload has the time at which it was made, for some come late. */
export function openCodeHook(payload: unknown, at: number): readonly Signal[] {
  const hook = foreign(payload)
  const seen = told({
    source: 'hook' as const,
    at: foreignTime(hook['at']) ?? at,
    agent: foreignText(hook['agent']),
  })
  switch (hook['event']) {
    case 'init':
      return [{ ...seen, kind: 'ready', reason: 'startup', ...told({ cwd: foreignText(hook['directory']) }) }]
    case 'session.created':
      return created(foreign(hook['info']), hook['isFirst'] === true, seen)
    case 'chat.message':
      return hook['isQueued'] === true
        ? [{ ...seen, kind: 'prompt-queued', ...told({ text: foreignText(hook['text']) }) }]
        : [{ ...seen, kind: 'prompt', ...promptOf(hook, seen) }]
    case 'tool.before':
      return toolStart(hook, seen)
    case 'message.part.updated':
      return part(foreign(hook['part']), seen)
    case 'message.updated':
      return openCodeUsage(foreign(hook['info']), seen)
    case 'session.status':
      return retry(foreign(hook['status']), seen)
    case 'session.idle':
      return idle(hook, seen)
    case 'session.error':
      return openCodeError(foreign(hook['error']), seen)
    case 'session.compacting':
      return [{ ...seen, kind: 'compacting', ...compactionOf(hook) }]
    case 'session.compacted':
      return [{ ...seen, kind: 'compacted', ...compactionOf(hook) }]
    case 'permission.asked':
    case 'question.asked':
      return [{ ...seen, kind: 'asking', ...openCodeAsked(hook) }]
    default:
      return []
  }
}

type Seen = { readonly source: 'hook'; readonly at: number; readonly agent?: string }

/** A session with a parent is a subagent's; the first without one is the conversation, later ones are `/new`. */
function created(info: Foreign, isFirst: boolean, seen: Seen): readonly Signal[] {
  const id = foreignText(info['id'])
  if (id === undefined) return []
  const agentType = foreignText(info['agent']) ?? 'subagent'
  if (seen.agent !== undefined) {
    const description = foreignText(info['title'])
    return [
      {
        source: 'hook',
        at: seen.at,
        kind: 'subagent-start',
        agentId: id,
        agentType,
        ...told({ description }),
      },
    ]
  }
  const known = {
    model: foreignText(foreign(info['model'])['id']),
    cwd: foreignText(info['directory']),
    version: foreignText(info['version']),
  }
  const reason = isFirst ? 'startup' : 'clear'
  return [{ ...seen, kind: 'ready', reason, foreignId: id, ...told(known) }]
}

const promptOf = (hook: Foreign, seen: Seen) => ({
  origin: seen.agent === undefined ? ('person' as const) : ('task' as const),
  ...told({ text: foreignText(hook['text']), promptId: foreignText(hook['id']) }),
})

function toolStart(hook: Foreign, seen: Seen): readonly Signal[] {
  const [callId, tool] = [foreignText(hook['callID']), foreignText(hook['tool'])]
  if (callId === undefined || tool === undefined) return []
  return [{ ...seen, kind: 'tool-start', callId, tool: openCodeTool(tool), ...told({ input: hook['args'] }) }]
}

function part(done: Foreign, seen: Seen): readonly Signal[] {
  const text = foreignText(done['text'])
  if (done['type'] === 'text')
    return text === undefined
      ? []
      : [{ ...seen, kind: 'text', text, ...told({ messageId: foreignText(done['messageID']) }) }]
  const [callId, tool] = [foreignText(done['callID']), foreignText(done['tool'])]
  const state = foreign(done['state'])
  const { start, end } = foreign(state['time'])
  if (done['type'] !== 'tool' || callId === undefined || tool === undefined) return []
  const exit = foreign(state['metadata'])['exit']
  const isFailed = typeof exit === 'number' && exit !== 0
  const error = foreignText(state['error']) ?? (isFailed ? `exit code ${exit}` : undefined)
  return [
    {
      ...seen,
      kind: 'tool-end',
      callId,
      tool: openCodeTool(tool),
      ok: state['status'] === 'completed' && !isFailed,
      ...told({
        output: foreignText(state['output']),
        error,
        durationMs:
          typeof start === 'number' && typeof end === 'number' ? Math.max(0, end - start) : undefined,
      }),
    },
  ]
}

const retry = (status: Foreign, seen: Seen): readonly Signal[] =>
  status['type'] === 'retry'
    ? [
        {
          ...seen,
          kind: 'retrying',
          ...told({
            attempt: typeof status['attempt'] === 'number' ? status['attempt'] : undefined,
            error: foreignText(status['message']),
          }),
        },
      ]
    : []

function idle(hook: Foreign, seen: Seen): readonly Signal[] {
  const text = told({ text: foreignText(hook['text']) })
  const end: Signal = { ...seen, kind: 'turn-end', background: 0, ...text }
  if (seen.agent === undefined) return [end]
  return [end, { source: 'hook', at: seen.at, kind: 'subagent-end', agentId: seen.agent, ...text }]
}

/** What a permission or a question asks. */
function openCodeAsked(hook: Foreign) {
  const callId = foreignText(foreign(hook['tool'])['callID'])
  if (hook['event'] === 'question.asked')
    return {
      ask: 'question',
      questions: askedQuestions(hook),
      ...told({ tool: 'AskUserQuestion', callId }),
    } as const
  const permission = foreignText(hook['permission'])
  const patterns = foreignList(hook['patterns']).filter((pattern) => typeof pattern === 'string')
  return {
    ask: 'permission',
    ...told({
      tool: permission && openCodeTool(permission),
      callId,
      input: hook['metadata'],
      detail: patterns.length > 0 ? patterns.join('\n') : undefined,
    }),
  } as const
}

/** The tokens of a finished answer. Reasoning is counted beside the output there; an answer cut off has none. */
function openCodeUsage(info: Foreign, seen: Seen): readonly Signal[] {
  const [responseId, tokens] = [foreignText(info['id']), foreign(info['tokens'])]
  const [input, output] = [foreignCount(tokens['input']), foreignCount(tokens['output'])]
  if (info['role'] !== 'assistant' || responseId === undefined) return []
  if (input === undefined || output === undefined) return []
  const { read, write } = foreign(tokens['cache'])
  const [cacheRead, cacheWrite] = [foreignCount(read) ?? 0, foreignCount(write) ?? 0]
  const reasoning = foreignCount(tokens['reasoning']) ?? 0
  const total = foreignCount(tokens['total']) ?? input + output + reasoning + cacheRead + cacheWrite
  if (total === 0) return []
  return [
    {
      ...seen,
      kind: 'usage',
      responseId,
      model: foreignText(info['modelID']) ?? 'unknown',
      usage: { input, output: output + reasoning, cacheRead, cacheWrite, reasoning, total },
      ...told({ finishReason: foreignText(info['finish']) }),
    },
  ]
}

/** How a turn ended when it failed; a person's Escape is an error there too. */
function openCodeError(error: Foreign, seen: Seen): readonly Signal[] {
  const name = foreignText(error['name'])
  if (name === 'MessageAbortedError') return [{ ...seen, kind: 'interrupted' }]
  const data = foreign(error['data'])
  const status = foreignCount(data['statusCode'])
  const limit = status === 429 ? {} : undefined
  const message = foreignText(data['message']) ?? name ?? 'the turn failed'
  return [{ ...seen, kind: 'turn-failed', error: message, ...told({ status, limit }) }]
}

/** `always` is remembered by OpenCode until it ends, which is what a session is. */
export function openCodeDecision(payload: unknown, decision: Decision): HookReply | undefined {
  const hook = foreign(payload)
  if (hook['event'] === 'question.asked') return answer(hook, decision)
  if (hook['event'] !== 'permission.asked') return undefined
  const reply = decision.verdict === 'deny' ? 'reject' : decision.scope === 'once' ? 'once' : 'always'
  const message = decision.verdict === 'deny' ? decision.reason : undefined
  return jsonReply({ path: 'reply', body: told({ reply, message }) })
}

/** The choices for each question, in their order, or words in their place; undefined when one is missing. */
function answer(hook: Foreign, decision: Decision): HookReply | undefined {
  if (decision.verdict === 'deny') return jsonReply({ path: 'reject' })
  const chosen: (readonly string[])[] = []
  for (const question of askedQuestions(hook)) {
    const given = decision.answers?.[question.question]
    if (given === undefined) return undefined
    chosen.push(chosenLabels(question, given) ?? [given])
  }
  return chosen.length === 0 ? undefined : jsonReply({ path: 'reply', body: { answers: chosen } })
}

export const openCodeGate = (_payload: unknown, gate: GateAnswer): HookReply =>
  jsonReply(gate.allowed ? { allow: true } : { allow: false, reason: gate.reason })

/** Only the result of a tool can be added to. */
export const openCodeInject = (payload: unknown, text: string): HookReply | undefined =>
  foreign(payload)['event'] === 'tool.after' ? jsonReply({ append: text }) : undefined

/** OpenCode's own tools and permissions under the names that agent files are written with; others keep theirs. */
const tools: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read: 'Read',
  edit: 'Edit',
  multiedit: 'Edit',
  patch: 'Edit',
  apply_patch: 'Edit',
  write: 'Write',
  glob: 'Glob',
  list: 'Glob',
  grep: 'Grep',
  lsp: 'LSP',
  task: 'Agent',
  skill: 'Skill',
  todowrite: 'TodoWrite',
  todoread: 'TodoWrite',
  question: 'AskUserQuestion',
  webfetch: 'WebFetch',
  websearch: 'WebSearch',
  codesearch: 'WebSearch',
  plan_enter: 'EnterPlanMode',
  plan_exit: 'ExitPlanMode',
}

const openCodeTool = (name: string): string => toolNamed(tools, name)
