import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { isIndexing, startDaemonProcess } from './daemon-process.ts'
import { scriptedDefault } from './scripted-default.ts'
import { eventually } from './session-daemon.ts'
import { whenOver } from './shared.ts'
import { tempFolder } from './temp-journal.ts'

export type Frame = {
  readonly id: string | undefined
  readonly type: string
  readonly data: Record<string, unknown>
}
export type Json = Record<string, unknown>

/** An agent file with every tool and action, unless `more` says otherwise. */
export const agentFile = (kind: string, more = '') =>
  `---\nkind: ${kind}\ntools: ["*"]\npolicy: [Patch, Finalize, Delegate]\n${more}---\nWork.\n`

type Given = {
  readonly config?: string
  readonly agents?: Record<string, string>
  readonly env?: Readonly<Record<string, string>>
  /** Where, for a home that several tests share; a folder of the test's own when left out. */
  readonly folder?: string
}

/** A home with two main agents and a subagent of the user, its settings, and a small git project. */
export function runtimeHome({ config = '', agents = {}, folder = tempFolder('mrc-') }: Given) {
  const home = realpathSync(folder)
  const project = join(home, 'project')
  mkdirSync(join(home, '.config/muster/agents'), { recursive: true })
  mkdirSync(project)
  execFileSync('git', ['init', '-q'], { cwd: project })
  writeFileSync(join(project, 'a.txt'), 'forty-two\n')
  for (const [name, kind] of [
    ['boss', 'main'],
    ['maker', 'main'],
    ['finder', 'subagent'],
  ] as const)
    writeFileSync(join(home, '.config/muster/agents', `${name}.md`), agentFile(kind))
  for (const [name, text] of Object.entries(agents))
    writeFileSync(join(home, '.config/muster/agents', `${name}.md`), text)
  writeFileSync(join(home, 'config.yaml'), scriptedDefault(config))
  return { home, project, settings: { MUSTER_CONFIG: join(home, 'config.yaml') } }
}

/** A daemon on such a home, and plain HTTP. */
export async function runtimeDaemon(given: Given = {}) {
  const { home, project, settings } = runtimeHome(given)
  const daemon = await startDaemonProcess(home, { env: { ...settings, ...given.env } })
  whenOver(() => daemon.kill('SIGKILL'))
  const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' }
  const ask = async (path: string, body?: object): Promise<{ status: number; body: never }> => {
    for (;;) {
      const answer = await fetch(`${daemon.url}${path}`, {
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.status !== 503 || !isIndexing(text))
        return { status: answer.status, body: JSON.parse(text) as never }
      await sleep(20)
    }
  }
  const frames: Frame[] = []
  const off = new AbortController()
  whenOver(() => off.abort())
  const stream = await fetch(`${daemon.url}/api/events`, { headers, signal: off.signal })
  read(stream, frames).catch(() => {})
  const until = (test: (frame: Frame) => boolean, count = 1): Promise<Frame[]> =>
    eventually(
      async () => frames.filter(test),
      (found) => found.length >= count,
    )
  const say = async (message: string, more: object = {}): Promise<Json> => {
    const { status, body } = await ask('/api/chat', {
      project_root: project,
      agent_id: 'boss',
      message,
      ...more,
    })
    expect({ status, body }).toMatchObject({ status: 200 })
    return body
  }
  const runs = async (query = '') => (await ask(`/api/agent-runs?${query}`)).body as Json[]
  return { home, project, daemon, ask, frames, until, say, runs }
}

async function read(stream: Response, frames: Frame[]): Promise<void> {
  let rest = ''
  for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = `${rest}${chunk}`.split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const field = (name: string) =>
        part
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const [type, data] = [field('event'), field('data')]
      if (type && data) frames.push({ id: field('id'), type, data: JSON.parse(data) as Json })
    }
  }
}

/** Whether a frame is of a type and says this. */
export const is =
  (type: string, more: Json = {}) =>
  (frame: Frame): boolean =>
    frame.type === type && Object.entries(more).every(([name, value]) => frame.data[name] === value)
