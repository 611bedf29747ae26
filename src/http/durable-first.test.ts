import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSse, settle } from '../../test/http/open-sse.ts'
import { testApp } from '../../test/http/test-app.ts'
import { openEngine, operator, sessionDrafts } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { systemFileOps } from '../adapters/jsonl/file-ops.ts'

test('[MUS-106][OBS-51] an event is a line of the journal before anybody sees it, and is sent then, without a wait', async () => {
  const dir = tempFolder()
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const ops = {
    ...systemFileOps,
    write: async (fd: number, bytes: Uint8Array, position: number) => {
      if (Buffer.from(bytes).includes('held back')) await held
      await systemFileOps.write(fd, bytes, position)
    },
  }
  const { engine, journal } = await openEngine(dir, { journal: { ops } })
  const session = sessionDrafts()
  await engine.propose({ items: [session.started()], by: operator })
  const app = testApp({ journal })
  const stream = await openSse(app, '/api/v1/events/stream')
  expect(await stream.chunk()).toBe('retry: 1000\n\nid: 1.0\n\n')

  const [segment = ''] = readdirSync(join(dir, 'segments'))
  const onDisk = () => readFileSync(join(dir, 'segments', segment), 'utf8').includes('held back')
  let isAnswered = false
  const told = engine.propose({ items: [session.note('held back')], by: operator }).then(() => {
    isAnswered = true
  })
  let frame: string | undefined
  const sent = stream.chunk().then((chunk) => {
    expect(onDisk()).toBe(true)
    frame = chunk
  })
  await settle(200)
  expect({ frame, isAnswered, watermark: journal.watermark() }).toEqual({
    frame: undefined,
    isAnswered: false,
    watermark: 1,
  })
  expect(await journal.page(1, 10)).toEqual([])
  expect(onDisk()).toBe(false)

  release()
  // The clock of the stream stands still: what waited for it would never come.
  await Promise.all([told, sent])
  expect(frame).toMatch(/^id: 2\.0\nevent: progress\.checkpoint\ndata: .*held back/)
  await stream.leave()
  await journal.close()
})
