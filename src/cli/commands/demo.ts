import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { demonstrationFolder, demonstrationRequest } from '../../contract/demonstration.ts'
import { AppError } from '../../contract/errors.ts'
import type { TextCommand } from '../command-module.ts'
import { makeProject } from '../demo/make-project.ts'
import { followWorkflow } from '../follow-workflow.ts'
import type { Io } from '../io.ts'
import { renderDemo } from '../render/demo.ts'

const readingMs = 10_000

export const demo: TextCommand<'demo'> = {
  text: async function* ({ once }, io) {
    const daemon = await io.daemon()
    const client = await daemon.client()
    const first = join(daemon.home, demonstrationFolder)
    const repo = freeFolder(first)
    if (once && (repo !== first || (await hasHistory(client, io)))) {
      if (io.isJson) yield `${JSON.stringify(notPlayed(first), null, 2)}\n`
      return
    }
    await makeProject(daemon.home, repo)
    if (!io.isJson)
      yield 'A demonstration: a crew adds two functions to a small project (no model is called)\n'
    // On the scripted model whatever keys there are.
    const begun = await client.startCrew({
      request: demonstrationRequest,
      project_root: repo,
      crew: 'balanced',
      model: 'scripted',
    })
    const news = followWorkflow(client, begun, io)
    let next = await news.next()
    for (; !next.done; next = await news.next()) if (!io.isJson) yield `  ${next.value}`
    const shown = await demoData(client, { repo, flow: next.value }, io)
    const view = { width: io.width(), now: io.now(), color: io.isColored }
    yield io.isJson ? `${JSON.stringify(shown, null, 2)}\n` : `\n${renderDemo(shown, view)}\n`
    if (shown.verdict !== 'approved')
      throw new AppError('failed', 'the demonstration did not end as it should')
  },
}

const notPlayed = (repo: string): CommandOutput<'demo'> => ({
  played: false,
  session_id: null,
  session_file: null,
  workflow_id: null,
  branch: null,
  repo,
  verdict: null,
  rounds: null,
  approval_id: null,
})

/** The question that is left is asked a moment after the work is done. */
async function demoData(
  client: Client,
  { repo, flow }: { readonly repo: string; readonly flow: CommandOutput<'workflow show'> },
  io: Io,
): Promise<CommandOutput<'demo'>> {
  const { workflow_id, session_id, report } = flow
  const until = io.now() + readingMs
  let now = flow
  while (report && now.approvals.length === 0 && io.now() < until) {
    await io.sleep(50)
    now = await client.getWorkflow({ id: workflow_id }, { signal: io.signal })
  }
  return {
    played: true,
    session_id,
    session_file: now.session_file,
    workflow_id,
    branch: flow.branch,
    repo,
    verdict: report?.outcome ?? null,
    rounds: report?.rounds.length ?? null,
    approval_id: now.approvals[0]?.approval_id ?? null,
  }
}

function freeFolder(first: string): string {
  let folder = first
  for (let n = 2; existsSync(folder); n++) folder = `${first}-${n}`
  return folder
}

/** Whether anything is known here; a daemon that has just been started may have to read its journal first. */
async function hasHistory(client: Client, io: Io): Promise<boolean> {
  const until = io.now() + readingMs
  while (true) {
    try {
      return (await client.listSessions({ limit: 1 }, { signal: io.signal })).sessions.length > 0
    } catch (error) {
      const isReading = error instanceof AppError && error.code === 'unavailable'
      if (!isReading || io.now() > until) throw error
      await io.sleep(100)
    }
  }
}
