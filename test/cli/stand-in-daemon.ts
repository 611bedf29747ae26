import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { socketPath } from '../../src/contract/home.ts'

// A program that behaves like the daemon towards a starting `sm`, in the way that STAND_IN names.
const home = process.env['MUSTER_HOME'] ?? ''
const way = process.env['STAND_IN'] ?? 'well'
appendFileSync(join(home, 'starts'), `${process.pid}\n`)

if (way === 'broken') {
  process.stderr.write('first line\nthe disk is on fire\n')
  process.exit(1)
}
try {
  // Stands for the lock of the journal: one holder, and the others leave with the exit of a conflict.
  mkdirSync(join(home, 'lock'))
} catch {
  process.exit(4)
}

const path = socketPath(home)
const server = createServer((request, response) => {
  if (way === 'silent') return
  const port = (server.address() as { port?: number }).port ?? 4711
  if (request.url === '/api/v1/shutdown') {
    appendFileSync(join(home, 'authorization'), `${request.headers.authorization}\n`)
    response.setHeader('content-type', 'application/json').end('{"stopping":true,"killed":0,"suspects":[]}')
    server.close()
    rmSync(join(home, 'lock'), { recursive: true })
    process.exit(0)
  }
  if (way === 'stranger' && request.headers.authorization) {
    response.writeHead(401, { 'content-type': 'application/json' })
    return void response.end('{"code":"unauthenticated","message":"the token is not known here"}')
  }
  const health = {
    name: 'muster',
    version: '0.1.0',
    wire: { current: 1, oldest: 1 },
    ...(way !== 'stranger' && { pid: process.pid, home }),
    startedAt: '2026-01-27T15:00:00.000Z',
    url: `http://127.0.0.1:${port}`,
    seq: 0,
    journal: 'ok',
  }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(health))
})
// A journal of some size takes a while to open, and until then nothing answers.
if (way === 'late') await new Promise((resolve) => setTimeout(resolve, 1000))
writeFileSync(join(home, 'operator.token'), 'mop_test\n', { mode: 0o600 })
writeFileSync(join(home, 'environment'), JSON.stringify({ cwd: process.cwd(), env: process.env }))
if (path === undefined) {
  server.listen(0, '127.0.0.1', () => {
    writeFileSync(join(home, 'port'), String((server.address() as { port: number }).port))
  })
} else server.listen(path)
