import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually, sessionDaemon } from './session-daemon.ts'
import { tempFolder } from './temp-journal.ts'

type Json = { readonly [key: string]: unknown }
type Named = { readonly session_id: string; readonly id: string }

/** What one turn of the stand-in says and does. */
export type Turn = {
  readonly prompt?: string
  readonly text?: string
  readonly tools?: readonly { name: string; input: Json; isError?: boolean }[]
  readonly tokens?: number
  /** What its status line says of the money spent so far. */
  readonly costUsd?: number
  /** The turn goes on. */
  readonly isOpen?: boolean
}

/**
 * A daemon whose `claude` is a program that keeps how it was started and then only sits in its terminal. What it
 * reports, by hooks and by its record in the formats of Claude Code, is up to the test.
 */
export async function standInClaude(config: Json = {}, env: Record<string, string> = {}) {
  const folder = tempFolder('stand-in-')
  const work = join(folder, 'work')
  mkdirSync(work)
  const program = standIn(folder, 'claude')
  const base = {
    claude: { default_command: program },
    clis: { shell: { command: 'bash', args: ['--norc', '--noprofile'] } },
  }
  const m = await sessionDaemon({ config: JSON.stringify(merged(base, config)), env })
  let calls = 0
  const records = new Map<string, string>()

  const launched = async ({ id }: Named) => {
    const file = join(folder, 'launches', id)
    await eventually(
      async () => existsSync(`${file}.env`),
      (is) => is,
    )
    const words = readFileSync(`${file}.argv`, 'utf8').split('\0').slice(0, -1)
    const pairs = readFileSync(`${file}.env`, 'utf8').split('\0').slice(0, -1)
    return {
      program: words[0] ?? '',
      argv: words.slice(1),
      env: Object.fromEntries(
        pairs.map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]),
      ),
    }
  }
  /** A hook of the CLI, as it would report it. */
  const hook = async (session: Named, event: Json) => {
    const transcript = await recordOf(session)
    const conversation = await conversationOf(session)
    return m.as(session.session_id).client.runHook({
      cli: 'claude',
      at: Date.now(),
      payload: { session_id: conversation, transcript_path: transcript, cwd: work, ...event },
    })
  }
  /** The conversation that it was started with. */
  const conversationOf = async (session: Named): Promise<string> => {
    const { argv } = await launched(session)
    return argv[argv.findIndex((word) => /^--(session-id|resume)$/.test(word)) + 1] ?? ''
  }
  const recordOf = async (session: Named): Promise<string> => {
    const known = records.get(session.id)
    if (known) return known
    const file = join(m.home, '.claude', 'projects', 'work', `${await conversationOf(session)}.jsonl`)
    mkdirSync(dirname(file), { recursive: true })
    records.set(session.id, file)
    return file
  }
  const write = async (session: Named, line: Json) =>
    appendFileSync(await recordOf(session), `${JSON.stringify({ ...common(), ...line })}\n`)
  const answer = (session: Named, content: readonly Json[], said: { tokens: number; isOpen?: boolean }) => {
    calls += 1
    return write(session, answerLine({ id: `msg_${session.session_id}_${calls}`, ...said, content }))
  }

  /** One whole turn: a prompt, tools, words, the end. */
  const turn = async (session: Named, told: Turn = {}) => {
    const prompt = told.prompt ?? 'go on'
    await hook(session, { hook_event_name: 'SessionStart', source: 'startup', model: 'claude-opus-5-5' })
    await write(session, { type: 'user', message: { role: 'user', content: prompt } })
    await hook(session, { hook_event_name: 'UserPromptSubmit', prompt })
    for (const { name, input, isError } of told.tools ?? []) {
      const id = `toolu_${session.session_id}_${++calls}`
      const call = { tool_name: name, tool_input: input, tool_use_id: id }
      await hook(session, { hook_event_name: 'PreToolUse', ...call })
      await answer(session, [{ type: 'tool_use', id, name, input }], { tokens: 0 })
      await hook(session, { hook_event_name: 'PostToolUse', ...call, tool_response: {} })
      const result = {
        type: 'tool_result',
        tool_use_id: id,
        content: 'said',
        ...(isError && { is_error: true }),
      }
      await write(session, { type: 'user', message: { role: 'user', content: [result] } })
    }
    const text = told.text ?? ''
    await answer(session, text === '' ? [] : [{ type: 'text', text }], {
      tokens: told.tokens ?? 0,
      isOpen: told.isOpen ?? false,
    })
    if (told.costUsd !== undefined)
      await hook(session, { model: { id: 'claude-opus-5-5' }, cost: { total_cost_usd: told.costUsd } })
    if (told.isOpen) await hook(session, { hook_event_name: 'PostToolBatch' })
    else
      await hook(session, {
        hook_event_name: 'Stop',
        last_assistant_message: text,
        background_tasks: [],
        stop_hook_active: false,
      })
  }

  return {
    ...m,
    m,
    work,
    program,
    /** Another program that keeps how it was started. */
    another: (name: string) => standIn(folder, name),
    launched,
    conversationOf,
    hook,
    turn,
    recordOf,
    write,
    line: answerLine,
    get client() {
      return m.client
    },
    get daemon() {
      return m.daemon
    },
    spawn: (more: Json = {}) =>
      m.client.spawnSession({ agent_type: 'claude', prompt: 'do it', working_dir: work, ...more }),
    session: (one: Named) => m.client.getSession({ id: one.session_id }),
    events: async (type: string) => (await m.client.listEvents({ type, limit: 100 })).events,
  }
}

const common = () => ({ timestamp: new Date().toISOString(), isSidechain: false, version: '2.1.325' })

/** A line of a record: an answer of the model and what it cost. */
const answerLine = (said: {
  id: string
  tokens: number
  content?: readonly Json[]
  isOpen?: boolean
}): Json => ({
  ...common(),
  type: 'assistant',
  message: {
    id: said.id,
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: said.content ?? [],
    stop_reason: said.isOpen ? 'tool_use' : 'end_turn',
    usage: { input_tokens: said.tokens, output_tokens: 0 },
  },
})

function standIn(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(join(folder, 'launches'), { recursive: true })
  const at = `${folder}/launches/$MUSTER_SESSION`
  writeFileSync(
    path,
    `#!/bin/sh
case "$1" in --version) echo "2.1.325 (Claude Code)"; exit 0 ;; esac
printf '%s\\0' "$0" "$@" > "${at}.argv"
env -0 > "${at}.tmp" && mv "${at}.tmp" "${at}.env"
exec cat
`,
  )
  chmodSync(path, 0o700)
  return path
}

/** Settings laid over settings, map by map. */
export function merged(below: Json, above: Json): Json {
  const both = Object.entries(above).map(([key, value]) => {
    const under = below[key]
    return [key, isMap(under) && isMap(value) ? merged(under, value) : value]
  })
  return { ...below, ...Object.fromEntries(both) }
}

const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
