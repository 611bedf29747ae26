import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'

type Got = { readonly id: string; readonly status: number; readonly body: Record<string, unknown> }

/** A server on loopback that answers with what the test says at the time. */
async function hook() {
  const got: Got[] = []
  let status = 200
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => (text += piece))
    request.on('end', () => {
      got.push({ id: String(request.headers['idempotency-key']), status, body: JSON.parse(text) })
      // Silence is the worst answer: it holds whoever waits for it.
      if (status > 0) response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/\${HOOK_PATH}`,
    got,
    // An answer that a busy machine reads too late is asked for again under the same key, which tells the two apart.
    taken: () =>
      [...new Map(got.filter((one) => one.status === 200).map((one) => [one.id, one.body])).values()].map(
        (body) => [body['name'], body['event']],
      ),
    answer: (next: number) => {
      status = next
    },
  }
}

const config = (url: string) =>
  `clis: { shell: { command: bash } }
child_agents:
  notifications:
    webhook: { url: ${JSON.stringify(url)}, timeout: 2 }
`

test('[SM-58][SM-93] a webhook is told of each change once, over a refusal, silence and a killed daemon, and holds nobody up', async () => {
  const { url, got, taken, answer } = await hook()
  const m = await sessionDaemon({ env: { HOOK_PATH: 'services-very-secret-path' } })
  const parent = await m.spawnShell({ name: 'em' })
  const old = await m.spawnShell({ name: 'old' })
  await m.client.completeSession({ id: old.session_id, message: 'before there was a hook' })
  writeFileSync(join(m.home, 'config.yaml'), config(url))
  await m.restart('SIGTERM')

  answer(503)
  const asParent = m.as(parent.session_id)
  const child = await asParent.client.spawnSession({ agent_type: 'shell', prompt: '', name: 'one' })
  const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
  await m.as(child.session_id).client.completeSession({ id: child.session_id, message: `Done ${secret}` })
  await eventually(
    async () => got.length,
    (count) => count >= 2,
  )
  answer(0)
  const count = got.length
  await eventually(
    async () => got.length,
    (now) => now > count,
  )
  // While the hook keeps somebody waiting, everything else goes on.
  const other = await asParent.client.spawnSession({ agent_type: 'shell', prompt: '', name: 'two' })
  await m.client.completeSession({ id: other.session_id, status: 'error', message: 'No keys' })
  const { messages } = await eventually(
    () => m.client.listMessages({ id: parent.session_id }),
    (found) => found.messages.length === 2,
  )
  expect(messages.map(({ preview }) => preview).join('\n')).toContain('No keys')
  expect(taken()).toEqual([])

  await m.restart('SIGKILL')
  answer(200)
  await eventually(
    async () => taken().length,
    (done) => done >= 2,
  )
  await m.client.completeSession({ id: parent.session_id, message: 'All' })
  await eventually(
    async () => taken().length,
    (done) => done >= 3,
  )
  expect(taken()).toEqual([
    ['shell-one', 'completed'],
    ['shell-two', 'error'],
    ['shell-em', 'completed'],
  ])
  expect(new Set(got.map(({ id }) => id)).size).toBe(3)
  expect(got[0]?.body).toMatchObject({
    session_id: child.session_id,
    parent_session_id: parent.session_id,
    message: expect.stringContaining('[redacted'),
  })
  expect(JSON.stringify(got)).not.toContain(secret)

  // Where it leads is a secret in part: it is in no setting, event or log.
  const shown = JSON.stringify([await m.client.getConfig({}), await m.client.listEvents({ limit: 1000 })])
  expect(shown + m.daemon.log()).not.toContain('very-secret')
  await m.restart('SIGTERM')
  expect(taken()).toHaveLength(3)
})

test('[SM-58] what is switched off is told to nobody, and a hook that refuses is seen in the doctor', async () => {
  const { url, got, answer } = await hook()
  const quiet = `${config(url)}    notify_parent_on_complete: false\n`
  const m = await sessionDaemon({ env: { HOOK_PATH: 'x' }, config: quiet })
  const done = await m.spawnShell()
  await m.client.completeSession({ id: done.session_id })
  answer(410)
  const failed = await m.spawnShell({ name: 'bad' })
  await m.client.completeSession({ id: failed.session_id, status: 'error', message: 'No' })
  const report = await eventually(
    () => m.client.doctor({}),
    ({ followers }) => followers.some(({ name, parked }) => name === 'notify-webhook' && parked.length > 0),
  )
  expect(JSON.stringify(report.followers)).toContain('it answered 410')
  expect(got.map(({ body }) => body['event'])).toEqual(['error'])
})
