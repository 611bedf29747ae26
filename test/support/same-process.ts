import { afterAll, expect, vi } from 'vitest'

/** What files of one worker share: a file that leaves it changed would make another one fail or hang. */
const shared = () => ({
  globals: [
    ...[setTimeout, setInterval, setImmediate, clearTimeout, queueMicrotask, structuredClone],
    ...[Date, Date.now, performance.now, fetch, Request, Response, ReadableStream, AbortController],
    ...[process.kill, process.exit, process.cwd, process.stdout.write, process.stderr.write],
  ],
  folder: process.cwd(),
  umask: process.umask(),
  environment: { ...process.env },
})

const before = shared()

afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  expect(shared(), 'this file leaves its process changed').toEqual(before)
})
