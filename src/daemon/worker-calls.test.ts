import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { WorkerCalls } from './worker-calls.ts'

const echoing = `import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ id, args }) => parentPort.postMessage({ id, value: args }))
`

function calls(): WorkerCalls {
  const entry = join(tempFolder(), 'echo.mjs')
  writeFileSync(entry, echoing)
  const worker = new WorkerCalls(pathToFileURL(entry), undefined)
  onTestFinished(() => worker.close())
  return worker
}

test('[MUS-118] a call that comes after the close is refused, and starts no thread that would keep the daemon alive', async () => {
  const worker = calls()
  expect(await worker.call('any', 1, 2)).toEqual([1, 2])
  await worker.close()
  await expect(worker.call('any')).rejects.toMatchObject({ code: 'unavailable' })
  expect(worker.waiting).toBe(0)
})
