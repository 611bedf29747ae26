import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import type { AgentEvent } from '../../src/contract/event.ts'
import type { WorkflowDetail } from '../../src/contract/workflow-routes.ts'
import { crewModel, crewSettings, type Part, playerOf } from './crew-model.ts'
import { crewProject } from './crew-project.ts'
import { type DaemonProcess, startDaemonProcess } from './daemon-process.ts'
import { recordingProxy } from './recording-proxy.ts'
import { eventually } from './session-daemon.ts'
import { whenOver } from './shared.ts'
import { tempFolder } from './temp-journal.ts'

/** A daemon, and a small git project for crews to work in. */
export async function crewDaemon({
  config = '',
  parts = [],
  crews = {},
}: {
  config?: string
  parts?: readonly Part[]
  /** Crew files of the user's, by name. */
  crews?: Readonly<Record<string, string>>
} = {}) {
  const home = realpathSync(tempFolder('mcrew-'))
  const repo = join(home, 'project')
  const git = crewProject(repo)
  const model = await crewModel(parts)
  whenOver(() => model.close())
  const door = await recordingProxy(model.url)
  whenOver(() => door.close())
  const settings = join(home, 'settings')
  mkdirSync(join(settings, 'muster/crews'), { recursive: true })
  for (const [name, yaml] of Object.entries(crews))
    writeFileSync(join(settings, 'muster/crews', `${name}.yaml`), yaml)
  const env = { ...crewSettings(home, door.url, config), XDG_CONFIG_HOME: settings }
  const start = (more: Record<string, string> = {}) => startDaemonProcess(home, { env: { ...env, ...more } })
  let daemon: DaemonProcess = await start()
  whenOver(() => daemon.kill('SIGKILL'))
  const client = () => daemon.client
  const until = (id: string, holds: (flow: WorkflowDetail) => boolean): Promise<WorkflowDetail> =>
    eventually(() => client().getWorkflow({ id }), holds)
  return {
    home,
    repo,
    git,
    client,
    until,
    /** What the model was asked, as it came over the wire, oldest first. */
    asked: (): string[] => door.exchanges().map(({ body }) => body),
    crew: (request: string, more: object = {}) =>
      client().startCrew({
        request,
        project_root: repo,
        crew: 'balanced',
        model: playerOf(request),
        ...more,
      }),
    /** When it has ended, or its work is there and waits to be landed. */
    ended: (id: string) => until(id, (flow) => flow.status !== 'running' || isToLand(flow)),
    events: async (session: string, type?: string): Promise<AgentEvent[]> =>
      (await client().listEvents({ session, limit: 1000, ...(type && { type }) })).events as AgentEvent[],
    /** Another daemon takes over, with these variables besides the usual. */
    async kill(more: Record<string, string> = {}): Promise<void> {
      await daemon.kill('SIGKILL')
      daemon = await start(more)
    },
  }
}
