import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import type { ScriptCall } from '../../contract/script.ts'
import type { ScriptAnswer } from '../../ports/scripts.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { askProgram } from '../system/run-program.ts'
import type { ChildLimits } from './child-process.ts'
import { nodeOptions, nodeScripts, walledArgv } from './node-scripts.ts'
import { parseScript } from './parse-script.ts'

const signal = new AbortController().signal
const left = { tokens: 1000, agents: 10, usd: null }
const opened = (limits: Partial<ChildLimits> = {}, hasWalls = true) =>
  nodeScripts({
    processes: systemProcesses(systemClock),
    parse: async (...given) => parseScript(...given),
    path: process.env['PATH'] ?? '',
    hasWalls,
    limits,
  })
const body = (text: string) =>
  `export default async function ({ args, agent, parallel, pipeline, phase, log, verify, budget }) {\n${text}\n}`

type Way = {
  limits?: Partial<ChildLimits>
  hasWalls?: boolean
  args?: unknown
  seed?: string
  nowMs?: number
}
type Answering = (call: ScriptCall) => unknown
async function run(text: string, answer: Answering = () => null, way: Way = {}): Promise<unknown> {
  const { args = null, seed = 's', nowMs = 1000 } = way
  const answered = async (call: ScriptCall): Promise<ScriptAnswer> => ({
    value: await answer(call),
    atMs: nowMs + 5,
    left,
  })
  const source = { main: 'a.ts', files: { 'a.ts': text } }
  return opened(way.limits, way.hasWalls).run(
    { source, args, seed, nowMs, left, isUnsafe: way.hasWalls === false },
    answered,
    signal,
  )
}

const meta = `export const meta = { name: 'a', description: 'what it does', phases: ['one'] }\n`

test('[MUS-279][MUS-292] a script is described with all that it imports, and nothing of it runs', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'lib'))
  writeFileSync(
    join(folder, 'a.ts'),
    `import { names } from './lib/names.ts'\nimport more from './more.json' with { type: 'json' }\nexport const meta = { name: 'a', description: 'x', phases: ['one', \`two\`] as const, tools: [('Re' + 'ad')], estimate: { agents: 1_000 } } satisfies object\nconsole.log(names, more)\nthrow new Error('ran')\nexport default () => { throw new Error('called') }`,
  )
  writeFileSync(join(folder, 'lib', 'names.ts'), `export { names } from '../other.mjs'`)
  writeFileSync(join(folder, 'other.mjs'), `import './a.ts'\nexport const names = []\nfor (;;) {}`)
  writeFileSync(join(folder, 'more.json'), `["Read"]`)
  const { meta, source } = await opened().describe(join(folder, 'a.ts'))
  const estimate = { agents: 1000 }
  expect(meta).toEqual({ name: 'a', description: 'x', phases: ['one', 'two'], tools: ['Read'], estimate })
  expect(Object.keys(source.files).sort()).toEqual(['a.ts', 'lib/names.ts', 'more.json', 'other.mjs'])
  expect(source.main).toBe('a.ts')
})

test('[MUS-279] what cannot be a script is refused, and says where it is wrong', async () => {
  const folder = tempFolder()
  const described = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return opened().describe(join(folder, name))
  }
  await expect(described('a.txt', '')).rejects.toMatchObject({ code: 'invalid' })
  await expect(described('a.ts', body('return 1'))).rejects.toThrow('a.ts: meta')
  await expect(described('a.ts', meta)).rejects.toThrow('no function')
  await expect(described('a.ts', `${meta}export default 1\nconst x: = 2`)).rejects.toThrow('a.ts:3: ')
  await expect(described('a.mjs', `${meta}export default 1\nconst x = = 2`)).rejects.toThrow('a.mjs:3: ')
  for (const plain of [
    'name',
    '`${1}`',
    '[...x]',
    '{ ...x }',
    '{ get a() {} }',
    '{ [a]: 1 }',
    '1n',
    '/x/',
    'f()',
  ])
    await expect(
      described('a.ts', `\nexport const meta = { name: ${plain} }\nexport default () => 1`),
      plain,
    ).rejects.toThrow('a.ts:2: meta is read without running')
  await expect(
    described('a.ts', `export const meta = { __proto__: { name: 'a' } }\nexport default () => 1`),
  ).rejects.toThrow('a.ts: meta')
  const importing = (from: string) => described('a.ts', `${meta}import '${from}'\n${body('')}`)
  await expect(importing('./none.ts')).rejects.toMatchObject({ code: 'not_found' })
  for (const from of [
    'node:fs',
    'fs',
    'zod',
    '/etc/passwd',
    'file:///etc/passwd',
    '../up.ts',
    './a/../../up.ts',
  ])
    await expect(importing(from), from).rejects.toThrow(`a.ts:2: a script cannot import ${from}`)
  await expect(
    described('a.ts', body('').replace('export', `${meta.replace("'a'", "'a b'")}export`)),
  ).rejects.toThrow('meta.name')
  await expect(opened().describe(join(folder, 'none.ts'))).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('[MUS-279] a link that leads out of the folder of a script brings nothing in', async () => {
  const folder = tempFolder()
  const outside = tempFolder()
  writeFileSync(join(outside, 'secret.json'), '"secret"')
  symlinkSync(join(outside, 'secret.json'), join(folder, 'x.json'))
  const text = `import x from './x.json' with { type: 'json' }\n${meta}${body('')}`
  writeFileSync(join(folder, 'a.ts'), text)
  await expect(opened().describe(join(folder, 'a.ts'))).rejects.toMatchObject({ code: 'denied' })
})

test('[MUS-279] [MUS-172] what a script asks for has the path of its branch, whatever ends first', async () => {
  const text = body(`
    const first: string = await agent('plan', { name: 'p' })
    const [a, b] = await parallel([
      async () => [await agent('a1'), await agent('a2')],
      async () => [await agent('b1'), await agent('b2')],
    ])
    const c = await pipeline(['x', 'y'], (item) => agent(item), async (said, item, i) => said + item + i)
    return [first, a, b, c, args]`)
  const paths = new Map<string, string>()
  const answer = async (slow: string, call: ScriptCall) => {
    if (call.kind !== 'agent') return null
    if (call.task.startsWith(slow)) await systemClock.sleep(20, signal)
    paths.set(call.task, call.path)
    return `<${call.task}>`
  }
  const expected = ['<plan>', ['<a1>', '<a2>'], ['<b1>', '<b2>'], ['<x>x0', '<y>y1'], { n: 1 }]
  expect(await run(text, (call) => answer('a', call), { args: { n: 1 } })).toEqual(expected)
  const before = Object.fromEntries(paths)
  expect(before).toEqual({
    plan: 'agent#1',
    a1: 'parallel#1[0]/agent#1',
    a2: 'parallel#1[0]/agent#2',
    b1: 'parallel#1[1]/agent#1',
    b2: 'parallel#1[1]/agent#2',
    x: 'pipeline#1[0]/agent#1',
    y: 'pipeline#1[1]/agent#1',
  })
  paths.clear()
  expect(await run(text, (call) => answer('b', call), { args: { n: 1 } })).toEqual(expected)
  expect(Object.fromEntries(paths)).toEqual(before)
})

test('[MUS-279] items of a pipeline do not wait for each other; a barrier waits for all', async () => {
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const answer = async (call: ScriptCall) => {
    if (call.kind !== 'agent') return null
    if (call.task === 'one slow') await gate.promise
    order.push(call.task)
    if (call.task === 'two fast') gate.resolve()
    return call.task.split(' ')[1]
  }
  const text = body(
    `return pipeline(['slow', 'fast'], (item) => agent('one ' + item), (item) => agent('two ' + item))`,
  )
  expect(await run(text, answer)).toEqual(['slow', 'fast'])
  expect(order).toEqual(['one fast', 'two fast', 'one slow', 'two slow'])
})

test('[MUS-279] the stages of a pipeline may stand in an array, and what is no stage is named before anybody is asked', async () => {
  const asked: string[] = []
  const answer = async (call: ScriptCall) => {
    if (call.kind !== 'agent') return null
    asked.push(call.path)
    return `<${call.task}>`
  }
  const stages = `(item) => agent(item), (said, item, i) => said + item + i`
  const listed = await run(body(`return pipeline(['x', 'y'], [${stages}])`), answer)
  const paths = asked.splice(0)
  expect(listed).toEqual(['<x>x0', '<y>y1'])
  expect(await run(body(`return pipeline(['x', 'y'], ${stages})`), answer)).toEqual(listed)
  expect(asked.splice(0)).toEqual(paths)
  for (const wrong of [`[${stages}, 'z']`, `${stages}, 'z'`, `[(item) => agent(item)], (said) => said`])
    await expect(run(body(`return pipeline(['x'], ${wrong})`), answer)).rejects.toThrow(
      'pipeline takes functions',
    )
  expect(asked).toEqual([])
})

test('[OBS-48] one failure in a barrier ends no other: it is told when all have ended, with what they gave', async () => {
  const answer = async (call: ScriptCall) => {
    if (call.kind !== 'agent') return null
    if (call.task === 'late') await systemClock.sleep(20, signal)
    return call.task
  }
  const text = body(`
    try {
      await parallel([() => { throw new Error('no') }, () => agent('late'), async () => { await agent('x'); null.x }])
    } catch (error) { return [error.name, error.message, error.results, error.errors.length] }`)
  expect(await run(text, answer)).toEqual([
    'AggregateError',
    '2 of 3 in parallel#1 failed: no',
    [null, 'late', null],
    2,
  ])
})

test('[MUS-279] [MUS-172] time and chance are the same when a script runs again, and of each branch alone', async () => {
  const look =
    '[Date.now(), new Date().getTime(), Date(), new Date().constructor.now(), performance.now(), Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], new Intl.DateTimeFormat("en", { timeStyle: "full", timeZone: "UTC" }).format()]'
  const text = body(`
    const first = ${look}
    const both = await parallel([0, 1].map((i) => async () => { await agent('w' + i); return ${look} }))
    return [first, ...both, ${look}]`)
  const slow = (which: string) => async (call: ScriptCall) => {
    if (call.kind === 'agent' && call.task === which) await systemClock.sleep(20, signal)
    return null
  }
  const once = (await run(text, slow('w0'))) as unknown[][]
  await systemClock.sleep(5, signal)
  expect(await run(text, slow('w1'))).toEqual(once)
  expect(once.map(([now]) => now)).toEqual([1000, 1005, 1005, 1005])
  expect(new Set(once.map((each) => each[5])).size).toBe(4)
  expect(once[0]?.[6]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(await run(text, slow('w0'), { seed: 'other' })).not.toEqual(once)
})

describe.each([true, false])('walls of bwrap: %s', (hasWalls) => {
  const hostile = async (text: string) => run(body(text), undefined, { hasWalls })

  test('[MUS-279] a script reaches no file, program, thread or module of Node', async () => {
    const target = join(tempFolder(), 'made')
    const names =
      'node:fs fs node:child_process node:worker_threads node:net node:module /etc/passwd file:///etc/passwd zod data:text/javascript,1 ./b.ts'
    expect(
      await hostile(`
        const got = []
        for (const name of '${names}'.split(' '))
          await import(name).then(() => got.push(name), (error) => /cannot import/.test(error) || got.push(error.message))
        return got`),
    ).toEqual([])
    expect(
      await hostile(
        `return [typeof require, typeof module, process.getBuiltinModule === undefined, process.binding === undefined, Object.keys(process.env), process.argv, typeof globalThis.global.process.pid]`,
      ),
    ).toEqual(['undefined', 'undefined', true, true, [], [], 'undefined'])
    const stolen = `
      let found = []
      Error.prepareStackTrace = (_, sites) => { for (const s of sites) { try { found.push(s.getThis(), s.getFunction()) } catch {} } return '' }
      new Error('x').stack
      const real = found.find((one) => one && typeof one.getBuiltinModule === 'function')
      if (!real) return 'nothing'
      real.getBuiltinModule('fs').writeFileSync(${JSON.stringify(target)}, 'x')
      return 'written'`
    expect(await hostile(stolen)).toBe('nothing')
    expect(existsSync(target)).toBe(false)
  })

  test('[MUS-279] a script that throws, exits, loops, hangs or floods is ended, and its line is told', async () => {
    await expect(hostile(`\nthrow new Error('boom')`)).rejects.toThrow('a.ts:3: boom')
    await expect(hostile(`process.exit(0)`)).rejects.toThrow('a.ts:2: a script has no process.exit')
    await expect(hostile(`setTimeout(() => {}, 1)`)).rejects.toThrow('a script has no setTimeout')
    await expect(hostile(`await fetch('http://127.0.0.1')`)).rejects.toThrow('a script has no fetch')
    await expect(hostile(`(function f() { f() })()`)).rejects.toThrow('Maximum call stack')
    await expect(
      hostile(`Promise.reject(new Error('left alone')); await new Promise(() => {})`),
    ).rejects.toThrow('left alone')
    await expect(hostile(`const all = []; for (;;) all.push(new Array(1e6).fill(Math.PI))`)).rejects.toThrow(
      /memory|ended by itself/,
    )
    const limits = { quietMs: 60_000, lineBytes: 10_000, totalBytes: 100_000, calls: 50 }
    const failing = (text: string, quietMs = limits.quietMs) =>
      run(body(text), undefined, { hasWalls, limits: { ...limits, quietMs } })
    await expect(failing(`for (;;) {}`, 500)).rejects.toThrow('it loops or waits')
    await expect(failing(`await new Promise(() => {})`, 500)).rejects.toThrow(
      'waits for something that never happens',
    )
    await expect(failing(`await agent('x')\nreturn 'x'.repeat(20_000)`)).rejects.toThrow(
      'at once after a.ts:2',
    )
    await expect(failing(`for (;;) log('x'.repeat(5000))`)).rejects.toThrow(/more than|calls/)
    await expect(failing(`for (;;) { await agent('x') }`)).rejects.toThrow('a.ts:2: more than 50 calls')
    await expect(failing(`return 1n`)).rejects.toThrow('BigInt')
    expect(await failing(`try { await agent('') } catch (error) { return error.code }`)).toBe('invalid')
    expect(await failing(`JSON.stringify = () => 'no'; Array.prototype.map = null; return agent('x')`)).toBe(
      null,
    )
  })
})

test('[MUS-279][MUS-298] behind walls a script has no network and sees no file, even with all of Node in its hands', async () => {
  const server = createServer((_request, response) => response.end('reached'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const tried = `
    const { readdirSync } = process.getBuiltinModule('fs')
    const said = await fetch('http://127.0.0.1:${port}').then((r) => r.text(), (e) => e.cause.code)
    let home; try { home = readdirSync(${JSON.stringify(import.meta.dirname)}) } catch (e) { home = e.code }
    let kernel; try { process.getBuiltinModule('fs').openSync('/proc/sys/kernel/core_pattern', 'a'); kernel = 'opened' } catch { kernel = 'shut' }
    console.log(JSON.stringify([said, home, kernel, Object.keys(process.env), readdirSync('/proc').filter((n) => /^[0-9]+$/.test(n)).length < 4]))`
  const walled = await walledArgv(process.env['PATH'] ?? '', signal)
  const [command = '', ...rest] = walled?.filter((one) => one !== '--permission') ?? []
  const said = await askProgram(command, [...rest, '--eval', tried], { signal, env: {} })
  expect(JSON.parse(said?.stdout || said?.stderr || 'null')).toEqual([
    'ECONNREFUSED',
    'ENOENT',
    'shut',
    ['PWD'],
    true,
  ])
})

test('[MUS-279] without walls Node itself permits no file, program or thread, even with all of it in hand', async () => {
  const [command, ...rest] = [process.execPath, ...nodeOptions]
  const target = join(tempFolder(), 'made')
  const tried = `
    const use = (name) => process.getBuiltinModule(name)
    const codes = []
    const attempt = (act) => { try { act(); codes.push('done') } catch (error) { codes.push(error.code) } }
    attempt(() => use('fs').readFileSync('/etc/passwd'))
    attempt(() => use('fs').writeFileSync(${JSON.stringify(target)}, 'x'))
    attempt(() => use('child_process').execFileSync('true'))
    attempt(() => new (use('worker_threads').Worker)('1', { eval: true }))
    attempt(() => process.binding('tcp_wrap'))
    attempt(() => process.dlopen({ exports: {} }, '/x.node'))
    console.log(JSON.stringify(codes))`
  const said = await askProgram(command, [...rest, '--eval', tried], { signal, env: {} })
  const codes = JSON.parse(said?.stdout || said?.stderr || 'null')
  expect(codes).toEqual([...Array.from({ length: 5 }, () => 'ERR_ACCESS_DENIED'), 'ERR_DLOPEN_DISABLED'])
  expect(existsSync(target)).toBe(false)
})

test('[MUS-292] without walls a script is refused, unless a person agreed to that', async () => {
  const scripts = opened({}, false)
  const source = { main: 'a.ts', files: { 'a.ts': body(`return 'ran'`) } }
  const begin = { source, args: null, seed: 's', nowMs: 1, left }
  const answer = () => Promise.reject(new Error('nothing is asked'))
  await expect(scripts.requireWalls(false, signal)).rejects.toMatchObject({ code: 'denied' })
  await expect(scripts.run(begin, answer, signal)).rejects.toThrow('add --unsafe')
  await scripts.requireWalls(true, signal)
  expect(await scripts.run({ ...begin, isUnsafe: true }, answer, signal)).toBe('ran')
})

test('[MUS-279] a script that is called off is gone', async () => {
  const stop = new AbortController()
  const source = { main: 'a.ts', files: { 'a.ts': body(`await agent('x')`) } }
  const running = opened().run(
    { source, args: null, seed: 's', nowMs: 1, left },
    () => {
      stop.abort(new Error('enough'))
      return new Promise(() => {})
    },
    stop.signal,
  )
  await expect(running).rejects.toThrow('enough')
})
