// Loaded into each thread of the daemon by `npm run bench walk`. At SIGUSR2 each thread reports which functions have run
// since the last time, and then says that its report is whole.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeCoverage } from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'

const tell = (word) =>
  writeFileSync(join(process.env['NODE_V8_COVERAGE'] ?? '', `${word}-${process.pid}-${threadId}`), '')
const take = () => {
  takeCoverage()
  tell('taken')
}

const channel = new BroadcastChannel('take-coverage')
channel.onmessage = take
channel.unref()
if (isMainThread)
  process.on('SIGUSR2', () => {
    take()
    channel.postMessage('take')
  })
tell('thread')
