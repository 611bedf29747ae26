import { expect, test } from 'vitest'
import { chooseAnswerer } from '../../src/cli/talk/ask-cli.ts'
import { inside, recorder } from './recorder.ts'
import { world } from './world.ts'

const wish = { agent: 'boss', model: undefined, cli: undefined }

test('[MUS-383] an agent that asks another needs no choice that is for people; what it names is refused by the route', async () => {
  const { client: daemon, asked } = recorder({
    chooseWorker: [{ cli: 'codex', model: null, why: 'w', named: true }],
  })
  const { io } = world({ client: daemon, env: inside })
  const client = await (await io.daemon()).client()
  expect(await chooseAnswerer(client, wish, io)).toMatchObject({ cli: 'own', model: null })
  expect(asked).toEqual([])
  await chooseAnswerer(client, { ...wish, cli: 'codex' }, io)
  expect(asked.map(({ route }) => route)).toEqual(['chooseWorker'])
})
