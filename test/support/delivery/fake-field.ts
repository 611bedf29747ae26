import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { claudeDialect } from '../../../src/adapters/claude/claude-cli.ts'
import { socketName } from '../../../src/daemon/home.ts'
import type { Field, Target } from './campaign.ts'
import { campaignDaemon } from './campaign-daemon.ts'
import { isExact, type Taken } from './check.ts'

const program = join(import.meta.dirname, '..', 'fake-tui', 'main.ts')

type FakeOptions = {
  readonly sessions: number
  readonly seed: number
  readonly prompt?: string
  readonly isUnreadable?: boolean
  /** All of them without any habit. */
  readonly isCalm?: boolean
}

/** Sessions of the unkind program. */
export async function fakeField(
  home: string,
  { sessions, seed, prompt = '', isUnreadable = false, isCalm = false }: FakeOptions,
): Promise<Field & { readonly count: (kind: string, by?: string) => number; close(): Promise<void> }> {
  const records = join(home, 'records')
  mkdirSync(records)
  const wrapper = join(home, 'fake-claude')
  writeFileSync(wrapper, `#!/bin/sh\nexec ${process.execPath} --no-warnings ${program} "$@"\n`, {
    mode: 0o700,
  })
  const config = join(home, 'config.yaml')
  writeFileSync(
    config,
    `claude: { default_command: ${JSON.stringify(wrapper)} }
child_agents: { mode: manual }
sessions:
  inherit_environment_vars: [PATH, FAKE_TUI_FOLDER, FAKE_TUI_SEED, FAKE_TUI_UNREADABLE, FAKE_TUI_CALM, CLAUDE_CONFIG_DIR]
`,
  )
  const env = {
    MUSTER_CONFIG: config,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    FAKE_TUI_FOLDER: records,
    FAKE_TUI_SEED: String(seed),
    FAKE_TUI_UNREADABLE: isUnreadable ? '1' : '',
    FAKE_TUI_CALM: isCalm ? '1' : '',
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
  }
  const socket = socketName(home, '')
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-u', '-L', socket, ...args], { encoding: 'utf8' }).stdout
  const daemon = await campaignDaemon(home, env)
  const targets: Target[] = []
  const lines = (i: number): Record<string, unknown>[] => {
    const path = join(records, `w${i}.jsonl`)
    if (!existsSync(path)) return []
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  for (let i = 0; i < sessions; i++) {
    const working_dir = join(home, `w${i}`)
    mkdirSync(working_dir)
    const { session_id, tmux_session } = await daemon.ask((client) =>
      client.spawnSession({ agent_type: 'claude', prompt, working_dir }),
    )
    targets.push({ id: session_id, tmuxSession: tmux_session, taken: () => lines(i).flatMap(takenOf) })
  }
  return {
    home,
    socket,
    tmux,
    daemon,
    targets,
    version: '2.1.325',
    dialect: claudeDialect,
    same: isExact,
    count: (kind, by) =>
      targets
        .flatMap((_, i) => lines(i))
        .filter((line) => line['kind'] === kind && (by === undefined || line['by'] === by)).length,
    async close() {
      await daemon.stop()
      for (const name of [socket, `${socket}-person`]) spawnSync('tmux', ['-L', name, 'kill-server'])
      await sleep(200)
    },
  }
}

function takenOf({ kind, text }: Record<string, unknown>): Taken[] {
  if (kind === 'submit') return [{ text: String(text), how: 'typed' }]
  return kind === 'inject' ? [{ text: String(text), how: 'injected' }] : []
}
