import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { catalogue, eventTypes } from '../../src/contract/event.ts'
import { socketName } from '../../src/daemon/home.ts'
import { runProgram } from '../cli/run-sm.ts'
import { startDaemonProcess } from './daemon-process.ts'
import { commitFiles, put, runGit } from './git-repository.ts'
import { hostile, poisoned } from './hostile-text.ts'
import { call, script } from './own-agents.ts'
import { smProgram } from './programs.ts'
import { runtimeHome } from './runtime-daemon.ts'
import { arbitraryOf } from './schema-arbitrary.ts'
import { eventually } from './session-daemon.ts'
import { whenOver } from './shared.ts'
import { openEngine, sessionDrafts } from './temp-engine.ts'

const quoted = JSON.stringify(hostile)
/** A name that a file system takes. */
const hostileName = hostile.replaceAll('/', '')

/** A daemon that knows nothing but hostile texts: in its journal, its files, its project and its terminals. */
export async function hostileWorld() {
  const { home, project, settings } = runtimeHome({
    config: `clis: { shell: { command: bash, args: ["-c", ${JSON.stringify(`printf '%s' "$0"; exec sleep 600`)}, ${quoted}] } }
child_agents: { cleanup: { archive_path: ${JSON.stringify(`/tmp/${hostileName}`)} } }
`,
    agents: {
      evil: `---\nkind: main\ntools: ["*"]\nmodel: scripted\ndescription: ${quoted}\n---\n${hostile}\n`,
      [hostileName]: `---\nkind: ${quoted}\n---\nWork.\n`,
    },
  })
  const bin = join(home, 'bin')
  const crews = join(home, '.config/muster/crews')
  for (const folder of [bin, crews]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(crews, 'evil.yaml'), `description: ${quoted}\nmembers: [{ role: developer }]\n`)
  writeFileSync(join(crews, `${hostileName}.yaml`), `description: ${quoted}\n${quoted}: 1\n`)
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\nprintf '%s' "$(cat ${home}/words)" >&2\nexit 1\n`)
  writeFileSync(join(home, 'words'), hostile)
  chmodSync(join(bin, 'systemctl'), 0o755)
  runGit(project, 'config', 'user.email', 'a@b')
  runGit(project, 'config', 'user.name', 'a')
  commitFiles(project, { [`${hostileName}.txt`]: hostile })
  put(project, {
    '.muster/agents/gift.md': `---\nkind: main\nidle_prompt: ${quoted}\n---\nWork.\n`,
    [`workflows/${hostileName}.mjs`]: hostile,
  })
  runGit(project, 'config', 'filter.gift.clean', hostile)
  hostileSessionFile(join(home, 'imported'))
  const rich = await plantedSession(home)
  const daemon = await startDaemonProcess(home, { env: settings })
  whenOver(async () => {
    await daemon.kill('SIGKILL')
    spawnSync('tmux', ['-L', socketName(home, ''), 'kill-server'])
  })
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    MUSTER_HOME: home,
    TZ: 'UTC',
    NODE_NO_WARNINGS: '1',
    LANG: 'C.UTF-8',
    ...settings,
  }
  const sm = (args: readonly string[], input = '') =>
    runProgram(process.execPath, [smProgram, ...args], { cwd: project, env, input })
  const { client } = daemon
  const shell = await client.spawnSession({ agent_type: 'shell', prompt: hostile, working_dir: project })
  await client.updateSession({ id: shell.id, name: 'evil', task: hostile, lock: hostile })
  await client.addCheckpoint({ id: shell.id, message: hostile, metadata: { [hostile]: hostile } })
  writeFileSync(join(project, `${hostileName}.txt`), `${hostile}\n+${hostile}`)
  await client.addCheckpoint({ id: shell.id, message: hostile })
  const queued = await client.sendMessage({ id: shell.id, text: hostile, mode: 'sequential' })
  await eventually(
    () => client.getOutput({ id: shell.id, lines: 50 }),
    ({ lines }) => lines.join('\n').includes('FORGED'),
  )
  return { home, project, env, sm, client, log: daemon.log, rich, shell, queued, ...(await talk(sm)) }
}

/** A session file whose every text is hostile, under a hostile name. */
function hostileSessionFile(folder: string): void {
  const golden = join(import.meta.dirname, '../golden/std-008/2026-01-26-001-implement-feature-multi.json')
  const evil = JSON.stringify(
    JSON.parse(readFileSync(golden, 'utf8'), (key, value: unknown) =>
      typeof value === 'string' && !/(^|_)id$|timestamp|_at$|version|status|type|^from$|^to$/.test(key)
        ? hostile
        : value,
    ),
  )
  mkdirSync(folder)
  writeFileSync(join(folder, `2026-01-26-001-${hostileName}-multi.json`), evil)
}

type Sm = (args: readonly string[], input?: string) => Promise<{ readonly stdout: string }>

type Answer = { readonly session_id: string; readonly run_id: string }

/** A built-in agent that prints and reads what is hostile and says hostile words; in one session to end, and one to go on with. */
async function talk(sm: Sm) {
  const steps = script(
    { text: hostile, ...call('Bash', { command: `echo ${JSON.stringify(hostile)}` }) },
    { ...call('Read', { file_path: hostileName }) },
    { text: hostile },
  )
  const answerOf = async () =>
    JSON.parse((await sm(['ask', 'boss', '-', '--json', '--keep'], steps)).stdout) as Answer
  return { asked: steps, answer: await answerOf(), chat: await answerOf() }
}

/** A session in whose record every kind of event stands that it takes, each with hostile texts in all its fields. */
async function plantedSession(home: string): Promise<string> {
  const { engine, journal } = await openEngine(join(home, 'journal'))
  const session = sessionDrafts()
  const started = {
    ...session.started(),
    payload: poisoned(catalogue['session.started'].payload, {
      name: 'evil',
      title: 'x',
      prompt: 'x',
      origin: 'imported',
    }),
  }
  await engine.perform([started as never])
  for (const [n, type] of eventTypes.entries()) {
    if (catalogue[type].spanKind === 'session') continue
    const { payload } = catalogue[type]
    const sample = fc
      .sample(arbitraryOf(payload), { seed: n, numRuns: 20 })
      .find((value) => payload.safeParse(value).success)
    const draft = session.draft(type, poisoned(payload, sample, { keys: true }) as never, {
      taskId: hostile as never,
      actor: hostile,
    })
    // What has to begin before it can end, or has no place in such a session, is refused.
    await engine.perform([draft]).catch(() => undefined)
  }
  await journal.close()
  return session.sessionId
}

/** Runs a list of commands in a terminal, one after the other, and answers the very bytes that each wrote to it. */
export async function inTerminal(
  world: Awaited<ReturnType<typeof hostileWorld>>,
  commands: ReadonlyMap<string, readonly string[]>,
  keys: Readonly<Record<string, { readonly shown: string; readonly press: readonly string[] }>>,
): Promise<ReadonlyMap<string, string>> {
  const { home, project, env } = world
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', `${socketName(home, '')}-person`, '-f', '/dev/null', ...args], {
      env,
      encoding: 'utf8',
    })
  whenOver(() => void spawnSync('tmux', ['-L', `${socketName(home, '')}-person`, 'kill-server'], { env }))
  const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  const lines = [...commands].map(
    ([name, args]) =>
      `printf '\\n@@%s@@\\n' ${quote(name)}; ${[process.execPath, smProgram, ...args].map(quote).join(' ')}`,
  )
  const [run, raw, go] = ['run.sh', 'raw', 'go'].map((name) => join(home, name)) as [string, string, string]
  writeFileSync(
    run,
    `cd ${quote(project)}; unset TMUX TMUX_PANE\nuntil test -e ${quote(go)}; do sleep 0.05; done\n${lines.join('\n')}\nprintf '\\n@@end@@\\n'; exec sleep 600\n`,
  )
  writeFileSync(raw, '')
  tmux('new-session', '-d', '-x', '100', '-y', '30', `exec bash ${quote(run)}`)
  tmux('pipe-pane', `exec cat >>${quote(raw)}`)
  writeFileSync(go, '')
  const pressed = new Set<string>()
  // A key is pressed once what it answers is shown; not every question is asked each time.
  const look = async () => {
    const text = readFileSync(raw, 'utf8')
    for (const [name, { shown, press }] of Object.entries(keys)) {
      if (pressed.has(name) || !(text.split(`@@${name}@@`)[1] ?? '').includes(shown)) continue
      pressed.add(name)
      tmux('send-keys', ...press)
    }
    return text
  }
  const all = await eventually(look, (text) => text.includes('@@end@@'))
  // A name also stands in nothing that a command prints.
  const parts = all.split(/@@([a-z -]+)@@\r\n/)
  return new Map(parts.flatMap((name, i) => (i % 2 === 1 ? [[name, parts[i + 1] ?? '']] : [])))
}
