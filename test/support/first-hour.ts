import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Ended, runProgram } from '../cli/run-sm.ts'
import { crewProject } from './crew-project.ts'
import { compiledOnce } from './daemon-process.ts'
import { smProgram } from './programs.ts'
import { tempFolder } from './temp-journal.ts'

/** What a stranger may have: programs on the path, variables, settings, and files in the home folder. */
type Has = {
  readonly path?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly config?: string
  readonly files?: (home: string) => Readonly<Record<string, string>>
}

/** No model server of this machine's user takes part. */
const nowhere = ['ollama', 'lmstudio', 'llamacpp'].map(
  (name) => `${name}: { base_url: "http://127.0.0.1:9/v1" }`,
)

/** Somebody with a clean home and a small git project, who types commands. */
export function stranger({ path = [], env: more = {}, config = '', files = () => ({}) }: Has = {}) {
  const home = realpathSync(tempFolder('mfh-'))
  const project = join(home, 'project')
  const git = crewProject(project)
  const settings = join(home, 'muster.yaml')
  writeFileSync(settings, `models:\n  providers: { ${[...nowhere, config].filter(Boolean).join(', ')} }\n`)
  for (const [file, text] of Object.entries(files(home))) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const env = {
    PATH: [...path, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: home,
    MUSTER_CONFIG: settings,
    NODE_NO_WARNINGS: '1',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    ...compiledOnce(),
    ...more,
  }
  const sm = (...args: string[]): Promise<Ended> =>
    runProgram(process.execPath, [smProgram, ...args], { cwd: project, env })
  onTestFinished(async () => {
    await sm('down', '--sessions')
  })
  return {
    home,
    project,
    git,
    sm,
    /** Of the only workflow that waits for a person. */
    asked: async (): Promise<string> => {
      const { stdout } = await sm('approvals', '--json')
      const { approvals } = JSON.parse(stdout) as { approvals: { approval_id: string }[] }
      return approvals[0]?.approval_id ?? ''
    },
  }
}
