import { freeCommand } from '../../contract/cli/free-commands.ts'
import type { PermissionMode } from '../../contract/values.ts'
import { pluginClient } from '../system/plugin-client.ts'

const reading = ['read', 'grep', 'find', 'ls']
/** Tools that run unasked; in the modes that are missing nothing is asked. */
const unasked: Partial<Record<PermissionMode, readonly string[]>> = {
  manual: reading,
  acceptEdits: [...reading, 'edit', 'write'],
}

/** What an extension for one session is to do. */
export type PiExtension = { readonly url: string; readonly isGated: boolean; readonly mode: PermissionMode }

/**
 * The extension that pi loads, as JavaScript text. pi has no permissions: the extension asks for them, at the daemon
 * and in the terminal at once, and the first answer counts. A gate is passed by an explicit yes only.
 */
export const piExtension = ({
  url,
  isGated,
  mode,
}: PiExtension): string => `// Written by Muster for one session and removed with it.
${pluginClient(url)}
const isGated = ${JSON.stringify(isGated)}
const unasked = ${JSON.stringify(unasked[mode] ?? null)}
const dayMs = 86_400_000
const choices = ['Allow once', 'Allow for this session', 'Deny']
const silence = 'Muster did not answer, so this tool was not run. You may try again.'
const remembered = new Set()
const free = ${freeCommand}

const words = (content) =>
  typeof content === 'string'
    ? content
    : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\\n')

const textPart = (text) => ({ type: 'text', text })

export default function (pi) {
  pi.on('session_start', (event, ctx) => {
    const { sessionManager: session, model, cwd } = ctx
    const known = { id: session.getSessionId?.(), file: session.getSessionFile?.(), model: model?.id, cwd }
    tell({ event: 'session_start', reason: event.reason, ...known })
  })
  pi.on('input', (event, ctx) => {
    if (!ctx.isIdle()) tell({ event: 'input', text: event.text, isQueued: true })
  })
  pi.on('before_agent_start', async (event) => {
    const asked = ask({ event: 'before_agent_start', text: event.prompt }, 1000)
    const { append } = await asked.catch(() => (tell({ event: 'before_agent_start', text: event.prompt }), {}))
    if (append) return { message: { customType: 'muster', content: append, display: true } }
  })
  pi.on('tool_call', async (event, ctx) => {
    const call = { tool: event.toolName, callId: event.toolCallId, input: event.input }
    if (isGated) {
      const answer = await ask({ event: 'tool_call', ...call }, 30_000).catch(() => ({}))
      if (answer.allow !== true) return { block: true, reason: answer.reason || silence }
    } else await tell({ event: 'tool_call', ...call })
    const isFree = event.toolName === 'bash' && free.test(event.input?.command ?? '')
    if (unasked && !isFree && !unasked.includes(event.toolName) && !remembered.has(event.toolName)) return permit(call, ctx)
  })
  pi.on('tool_result', async (event) => {
    const asked = ask({ event: 'tool_result', tool: event.toolName, callId: event.toolCallId }, 1000)
    const { append } = await asked.catch(() => ({}))
    if (append) return { content: [...event.content, textPart(append)] }
  })
  pi.on('tool_execution_end', (event) => {
    const { toolName: tool, toolCallId: callId, isError, result } = event
    tell({ event: 'tool_execution_end', tool, callId, isError, text: words(result?.content).slice(0, 20_000) })
  })
  pi.on('agent_end', (event) => {
    const last = event.messages.findLast((message) => message.role === 'assistant') ?? {}
    tell({ event: 'agent_end', stopReason: last.stopReason, error: last.errorMessage, text: words(last.content) })
  })
  // Without a turn it is one that a person asked for.
  let compacts
  pi.on('session_before_compact', (event, ctx) => {
    compacts = ctx.isIdle() ? 'manual' : 'auto'
    void tell({ event: 'session_before_compact', trigger: compacts })
  })
  pi.on('session_compact', () => void tell({ event: 'session_compact', trigger: compacts }))
  pi.on('session_shutdown', async (event) => {
    await ask({ event: 'session_shutdown', reason: event.reason }, 500).catch(() => {})
  })
}

/** Asks the daemon and, where there is a terminal, the person in front of it. */
async function permit(call, ctx) {
  const cut = new AbortController()
  ctx.signal?.addEventListener('abort', () => cut.abort(), { once: true })
  const title = 'May the agent use ' + call.tool + '?\\n' + JSON.stringify(call.input).slice(0, 500)
  const here = ctx.hasUI ? ctx.ui.select(title, choices, { signal: cut.signal }).then(fromChoice) : new Promise(() => {})
  const answer = await Promise.race([here, fromDaemon(call, cut.signal, ctx.hasUI)])
  cut.abort()
  if (answer.allow !== true) return { block: true, reason: answer.reason || 'not allowed by the person asked' }
  if (answer.isRemembered) remembered.add(call.tool)
}

const fromChoice = (choice) => ({ allow: choice === choices[0] || choice === choices[1], isRemembered: choice === choices[1] })

/** An answer of the daemon; while it is away only the terminal can answer, and without one the answer is no. */
async function fromDaemon(call, signal, hasUI) {
  while (!signal.aborted) {
    const answer = await ask({ event: 'permission_request', ...call }, dayMs, signal).catch(() => undefined)
    if (typeof answer?.allow === 'boolean') return answer
    if (!hasUI) return { allow: false, reason: silence }
    // An answer without a verdict means that nobody will answer there.
    if (answer) return new Promise(() => {})
    await pause(3000)
  }
  return new Promise(() => {})
}
`
