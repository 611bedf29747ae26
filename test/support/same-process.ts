import { afterAll, expect, vi } from 'vitest'
import { endFile } from './shared.ts'

const globals = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Date', 'fetch', 'Response']
const methods = ['kill', 'exit', 'cwd', 'chdir']

/** What files of one worker share: a file that leaves it changed would make another one fail or hang. */
const shared = () => ({
  globals: globals.map((name) => Reflect.get(globalThis, name)),
  methods: methods.map((name) => Reflect.get(process, name)),
  folder: process.cwd(),
  umask: process.umask(),
  environment: { ...process.env },
})

const before = shared()

afterAll(async () => {
  await endFile()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  expect(shared(), 'this file leaves its process changed').toEqual(before)
})
