import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { asker } from '../../test/support/asker.ts'
import { ids, openEngine } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { openVault } from '../adapters/vault/file-vault.ts'
import { Config } from '../contract/config.ts'
import { isFact } from '../contract/event.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { FlowPlace } from '../ports/durable.ts'
import type { FlowRecord } from './local/recorded-flow.ts'
import { Workflows } from './workflows.ts'

async function opened(records: () => Promise<FlowRecord[]> = async () => []) {
  const folder = tempFolder('flows-')
  const { journal, engine } = await openEngine(join(folder, 'journal'))
  const vault = await openVault(join(folder, 'vault'), join(folder, 'key'))
  onTestFinished(async () => {
    await vault.close()
    await journal.close()
  })
  const events = async () => (await journal.page(0, 1000)).map(({ event }) => event)
  const workflows = new Workflows({
    engine,
    vault,
    clock: systemClock,
    ids,
    limits: () => Config.parse({}).limits,
    procedures: [{ name: 'some', version: '1', run: async () => 'done' }],
    async *events(sessionId, types) {
      for (const event of await events())
        if (event.sessionId === sessionId && types.includes(event.type) && isFact(event)) yield event
    },
    records,
    onBug: (error) => expect.fail(String(error)),
  })
  return { engine, events, workflows }
}

test('[MUS-275] the session of a workflow that could not begin has failed, and says why', async () => {
  const { events, workflows } = await opened()
  const wish = { procedure: 'none', input: null, workspace: '/', by: asker('me'), kind: 'a', title: 'a' }
  await expect(workflows.begin(wish)).rejects.toMatchObject({ code: 'not_found' })
  expect((await events()).at(-1)).toMatchObject({
    type: 'session.failed',
    payload: { reason: 'it could not start: there is no procedure none' },
  })
})

test('[MUS-275] a session that a kill left before its workflow began has failed, and was not completed', async () => {
  const { engine, events, workflows } = await opened()
  const at = { sessionId: ids.session(), traceId: ids.trace(), runId: ids.run(), spanId: ids.span() }
  await engine.perform([
    draftOf({ ...at, actor: 'me' }, 'session.started', {
      name: 'a-1',
      origin: 'workflow',
      cli: 'own',
      workingDir: '/',
      depth: 0,
    }),
  ])
  await workflows.start()
  await expect.poll(async () => (await events()).at(-1)?.type).not.toBe('session.started')
  expect((await events()).at(-1)).toMatchObject({
    type: 'session.failed',
    payload: { reason: 'Muster was stopped before it began; start it again' },
  })
})

test('[MUS-360] a workflow of a session that was reported or imported is history: nothing of it is run or forked', async () => {
  const { engine, events, workflows } = await opened(async () => [
    { id: 'w', name: 'some', version: '1', status: 'running', sessionId: at.sessionId, inputDigest: '' },
  ])
  for (const via of ['report', 'import'] as const) {
    Object.assign(at, {
      sessionId: ids.session(),
      traceId: ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
    })
    const root = { ...at, actor: 'me', workflowId: 'w' }
    const items = [
      draftOf(root, 'session.started', { name: 'a-1' }),
      draftOf({ ...root, spanId: ids.span() }, 'workflow.started', {
        workflowId: 'w',
        name: 'some',
        version: '1',
      }),
    ]
    await engine.propose({ items, by: { kind: 'operator', id: 'cli', via } })
    const before = (await events()).length
    await workflows.start()
    expect(await workflows.resume('w', asker('me'))).toBe(false)
    expect(await workflows.cancel('w', { by: asker('me'), reason: 'x' })).toBe('finished')
    const wish = { workspace: '/', by: asker('me'), kind: 'a', title: 'a' }
    await expect(workflows.fork('w', wish, {})).rejects.toMatchObject({ code: 'conflict' })
    const written = (await events()).slice(before).filter(({ sessionId }) => sessionId === at.sessionId)
    expect(written).toEqual([])
  }
})

const at = { sessionId: ids.session() } as FlowPlace

test('[MUS-275] a workflow that begins before the earlier ones are taken up is not taken for one of them', async () => {
  const asked = Promise.withResolvers<[]>()
  const { events, workflows } = await opened(() => asked.promise)
  const begun = workflows.begin({
    procedure: 'some',
    input: null,
    workspace: '/',
    by: asker('me'),
    kind: 'a',
    title: 'a',
  })
  await expect
    .poll(async () => (await events()).map(({ type }) => type))
    .toEqual(['session.started', 'agent.spawned'])
  const started = workflows.start()
  asked.resolve([])
  await Promise.all([begun, started])
  await expect.poll(async () => (await events()).at(-1)?.type).toBe('session.completed')
  const ends = (await events()).map(({ type }) => type).filter((type) => /failed|finalized/.test(type))
  expect(ends).toEqual(['workflow.finalized'])
})
