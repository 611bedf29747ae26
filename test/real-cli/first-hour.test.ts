import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { stranger } from '../support/first-hour.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'
import { eventually } from '../support/session-daemon.ts'

test('[MUS-383] the first hour with only Claude Code: it answers and fills every place of a crew, and it is said why', async ({
  skip,
}) => {
  const claude = cliPath('claude')
  const [pin] = clis.filter(({ name }) => name === 'claude')
  if (claude === undefined) return skip(pin ? missingCli(pin) : 'claude is not pinned')
  const done = '```json\n{"status":"completed","summary":"A second greeting is there."}\n```'
  const write = { name: 'Write', input: { file_path: 'second.mjs', content: 'export const x = 1\n' } }
  const part = { when: 'second greeting', steps: [{ tools: [write] }, { text: done }] }
  const model = await startScriptedModel({ scenarios: { play: { cast: [part] as never } } })
  onTestFinished(() => model.close())
  const { sm, git, asked } = stranger({
    path: [dirname(claude)],
    env: { IS_SANDBOX: '1' },
    // As after its first use in this project: set up, logged in, and trusting the folder.
    files: (home) => ({
      [join(home, '.claude.json')]: JSON.stringify({
        hasCompletedOnboarding: true,
        projects: { [join(home, 'project')]: { hasTrustDialogAccepted: true } },
      }),
      [join(home, '.claude', 'settings.json')]: JSON.stringify({
        apiKeyHelper: 'echo test-key',
        env: {
          ANTHROPIC_BASE_URL: model.url,
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
        },
      }),
    }),
  })
  const reason = 'Claude Code does it: no provider has a key, and Claude Code is logged in'
  const doctor = await sm('doctor')
  expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain(`ok who answers ${reason}`)
  const answer = await sm('ask', 'lead', 'SCRIPT:[{"text":"It is a greeting."}]')
  expect(answer).toMatchObject({
    code: 0,
    stdout: 'It is a greeting.\n',
    stderr: expect.stringContaining(reason),
  })
  const data = await sm('ask', 'lead', 'SCRIPT:[{"text":"Again."}]', '--json')
  expect(JSON.parse(data.stdout)).toMatchObject({ agent: 'lead', status: 'completed', text: 'Again.' })
  // A session for one answer is over with it.
  expect((await sm('all')).stdout).toMatch(/^No sessions/)
  const crew = await sm('crew', 'Add a second greeting SCRIPT=play', '--name', 'solo')
  expect(crew).toMatchObject({ code: 0, stderr: expect.stringContaining(reason) })
  expect(crew.stdout).toContain('A second greeting is there.')
  const approval = await eventually(asked, (id) => id !== '')
  expect((await sm('approve', approval)).code).toBe(0)
  await expect.poll(() => git('ls-files')).toContain('second.mjs')
})
