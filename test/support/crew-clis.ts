import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AgentEvent } from '../../src/contract/event.ts'
import type { WorkflowDetail } from '../../src/contract/workflow-routes.ts'
import { cliPath } from './clis.ts'
import { castOf, type Part } from './crew-model.ts'
import { crewProject } from './crew-project.ts'
import { hermetic } from './hermetic.ts'
import { startScriptedModel } from './scripted-model/scripted-model.ts'
import { eventually, sessionDaemon } from './session-daemon.ts'
import { tempFolder } from './temp-journal.ts'

/** A daemon and a project whose crew has real agent programs in it: Claude Code develops, Codex reviews. */
export async function crewClis(parts: readonly Part[]) {
  const model = await startScriptedModel({ scenarios: { play: { cast: castOf(parts) as never } } })
  onTestFinished(() => model.close())
  const home = tempFolder('mcc-')
  const repo = join(home, 'project')
  const git = crewProject(repo)
  const at = { home, modelUrl: model.url, cwd: repo, permissions: 'ask' } as const
  const env = { ...hermetic('claude', at).env, ...hermetic('codex', at).env, FAST_KEY: 'x' }
  const inherited = Object.keys(env).filter((name) => !['PATH', 'HOME', 'TERM', 'FAST_KEY'].includes(name))
  const m = await sessionDaemon({
    env,
    config: JSON.stringify({
      models: {
        default: 'fast/scripted-1',
        providers: { fast: { protocol: 'anthropic', base_url: `${model.url}/v1`, key_env: 'FAST_KEY' } },
      },
      claude: { default_command: cliPath('claude') },
      clis: { codex: { command: cliPath('codex') } },
      sessions: { inherit_environment_vars: ['PATH', ...inherited] },
    }),
  })
  mkdirSync(join(repo, '.muster/crews'), { recursive: true })
  writeFileSync(join(repo, '.git/info/exclude'), '.muster\n')
  writeFileSync(join(repo, '.muster/crews/mixed.yaml'), crew)
  return {
    ...m,
    m,
    model,
    repo,
    git,
    crew: (request: string, more: object = {}) =>
      m.client.startCrew({ request: `${request} SCRIPT=play`, project_root: repo, crew: 'mixed', ...more }),
    until: (id: string, holds: (flow: WorkflowDetail) => boolean) =>
      eventually(() => m.client.getWorkflow({ id }), holds, 90_000),
    events: async (): Promise<AgentEvent[]> =>
      (await m.client.listEvents({ limit: 1000 })).events as AgentEvent[],
  }
}

const crew = `description: A built-in architect, and agent programs for the rest
members:
  - role: architect
    model: fast/scripted-1
  - role: developer
    cli: claude
    count: 2
  - role: reviewer
    cli: codex
`
