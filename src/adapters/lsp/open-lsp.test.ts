import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { processes, running } from '../../../test/support/bash-bench.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { openLsp } from './open-lsp.ts'

type Around = Partial<Parameters<typeof openLsp>[0]>

/** A small project, and the language server of the TypeScript that this repository has. */
function project(around: Around = {}) {
  const env = { ...process.env, ANTHROPIC_API_KEY: 'sk-1' }
  const lsp = openLsp({ env, processes, ...around })
  onTestFinished(() => lsp.close())
  const b = toolBench([lsp.tool])
  symlinkSync(join(process.cwd(), 'node_modules'), join(b.workspace, 'node_modules'))
  b.put('tsconfig.json', '{"compilerOptions":{"strict":true,"noEmit":true,"types":[]},"include":["src"]}')
  b.put(
    'src/a.ts',
    '/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b\n}\nexport class Point {\n  x = 1\n}\n',
  )
  b.put('src/b.ts', "import { add } from './a'\nexport const sum: number = add(1, 2)\nadd(3, 4)\n")
  const ask = (input: object, context = {}) => b.call('LSP', input, context)
  return { ...b, lsp, ask }
}

/** A project whose only language server is this script. */
function withServer(script: string, around: Around = {}) {
  const b = project(around)
  const bin = tempFolder('mlsp-')
  writeFileSync(join(bin, 'typescript-language-server'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  rmSync(join(b.workspace, 'node_modules'))
  const lsp = openLsp({
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
    processes,
    ...around,
  })
  onTestFinished(() => lsp.close())
  return { lsp, ask: (input: object, context = {}) => lsp.tool.run(input, { ...b.context, ...context }) }
}

describe.each([true, false])('LSP (walls: %s)', (hasWalls) => {
  test('[MUS-270] definitions, references, types, symbols and errors come from the real server', async () => {
    const { ask } = project({ hasWalls })
    expect(await ask({ operation: 'definition', file: 'src/b.ts', line: 3, character: 1 })).toEqual({
      text: 'src/a.ts:2:17 export function add(a: number, b: number): number {',
      isError: false,
    })
    const references = await ask({ operation: 'references', file: 'src/a.ts', query: 'add' })
    expect(references.text.split('\n').sort()).toEqual([
      'src/a.ts:2:17 export function add(a: number, b: number): number {',
      "src/b.ts:1:10 import { add } from './a'",
      'src/b.ts:2:28 export const sum: number = add(1, 2)',
      'src/b.ts:3:1 add(3, 4)',
    ])
    const hover = await ask({ operation: 'hover', file: 'src/b.ts', line: 2, query: 'add' })
    expect(hover.text).toMatch(/add\(a: number, b: number\): number[^]*Adds\./)
    const symbols = await ask({ operation: 'symbols', file: 'src/a.ts' })
    expect(symbols.text).toBe('2:17 function add\n5:14 class Point\n  6:3 property x')
    expect((await ask({ operation: 'symbols', query: 'Poin' })).text).toContain('src/a.ts:5:14 class Point')
    expect(await ask({ operation: 'diagnostics', file: 'src/b.ts' })).toEqual({
      text: 'Nothing is wrong with it.',
      isError: false,
    })
  })
})

test('[MUS-270] it sees what was changed meanwhile, in any file', async () => {
  const b = project()
  const { ask, workspace } = b
  await ask({ operation: 'diagnostics', file: 'src/b.ts' })
  b.put('src/a.ts', 'export function add(a: string, b: string): string {\n  return a + b\n}\n')
  const broken = await ask({ operation: 'diagnostics', file: 'src/b.ts' })
  expect(broken.text).toMatch(/^src\/b\.ts:2:14 error 2322: .*\n/)
  expect(broken.text).toContain('src/b.ts:3:5 error 2345')
  b.put('src/b.ts', "import { more } from './c'\nmore()\n")
  b.put('src/c.ts', 'export const more = (): void => {}\n')
  expect((await ask({ operation: 'diagnostics', file: 'src/b.ts' })).text).toBe('Nothing is wrong with it.')
  expect((await ask({ operation: 'definition', file: 'src/b.ts', line: 2, character: 1 })).text).toContain(
    'src/c.ts:1:14',
  )
  rmSync(join(workspace, 'src/c.ts'))
  expect((await ask({ operation: 'diagnostics', file: 'src/b.ts' })).text).toContain(
    "Cannot find module './c'",
  )
})

test.each([
  [{ operation: 'hover', file: '../outside.ts', line: 1, character: 1 }, 'outside the project'],
  [{ operation: 'hover', file: 'src/none.ts', line: 1, character: 1 }, 'no such file'],
  [{ operation: 'hover', file: 'src/b.ts' }, 'say where'],
  [{ operation: 'hover', file: 'src/b.ts', line: 99, character: 1 }, 'no line 99'],
  [{ operation: 'hover', file: 'src/b.ts', query: 'ad' }, 'is not in the file'],
  [{ operation: 'hover', line: 1, character: 1 }, 'needs a file'],
  [{ operation: 'symbols' }, 'needs a file, or a query'],
  [{ operation: 'rename', file: 'src/b.ts' }, 'is not valid'],
])('[MUS-270] %j is answered with what is missing', async (input, expected) => {
  const { ask } = project()
  expect(await ask(input)).toMatchObject({ isError: true, text: expect.stringContaining(expected) })
})

test('[MUS-270] without a server the tool says why it is not there', async () => {
  const b = project({ env: { PATH: '/usr/bin:/bin' } })
  expect(await b.lsp.present(b.workspace)).toMatchObject({ ok: true })
  rmSync(join(b.workspace, 'node_modules'))
  const none = await b.lsp.present(b.workspace)
  expect(none).toMatchObject({ ok: false, reason: expect.stringContaining('install typescript 7') })
  expect(await b.ask({ operation: 'symbols', query: 'x' })).toMatchObject({ isError: true })
})

test('[MUS-270] a server that dies, hangs or says nonsense is an answer, and a cancel ends the wait', async () => {
  const dying = withServer('echo no memory >&2; exit 3')
  const died = await dying.ask({ operation: 'symbols', query: 'x' })
  expect(died).toMatchObject({
    isError: true,
    text: expect.stringMatching(/has ended; its last output: no memory/),
  })
  const hanging = withServer('exec sleep 1000', { callMs: 500 })
  expect((await hanging.ask({ operation: 'symbols', query: 'x' })).text).toContain('longer than 500 ms')
  for (const nonsense of [
    'printf "Content-Length: no\\r\\n\\r\\n"; exec sleep 1000',
    'printf "Content-Length: 99999999999\\r\\n\\r\\n"; exec sleep 1000',
    'printf "Content-Length: 3\\r\\n\\r\\n{x}"; exec sleep 1000',
    'printf "Content-Length: 4\\r\\n\\r\\nnull"; exec sleep 1000',
    'exec yes a header without an end',
  ])
    expect((await withServer(nonsense).ask({ operation: 'symbols', query: 'x' })).text).toContain(
      'not a message',
    )
  const patient = withServer('exec sleep 1000')
  const stop = new AbortController()
  const waiting = patient.ask({ operation: 'symbols', query: 'x' }, { signal: stop.signal })
  stop.abort()
  expect(await waiting).toMatchObject({ text: 'The call was cancelled.' })
})

test('[MUS-270] the server gets no key, can write nothing, and ends with the run', async () => {
  const b = project()
  await b.ask({ operation: 'symbols', query: 'Point' })
  const pids = await running(`${b.workspace}/node_modules`)
  expect(pids.length).toBeGreaterThan(0)
  for (const pid of pids) expect(await processes.variable(pid, 'ANTHROPIC_API_KEY')).toBeUndefined()
  await b.lsp.close()
  expect(await running(`${b.workspace}/node_modules`)).toEqual([])
  expect(await b.ask({ operation: 'symbols', query: 'x' })).toMatchObject({
    isError: true,
    text: 'the run is over',
  })
  const temporary = tempFolder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const writer = withServer('echo x > made; echo y > /tmp/made; cat made >&2; exit 1')
  expect((await writer.ask({ operation: 'symbols', query: 'x' })).text).toContain('Read-only')
  expect(readdirSync(temporary).filter((name) => name.startsWith('muster-lsp'))).toEqual([])
})

test('[MUS-270] of a server that tells errors by itself the last word counts', async () => {
  const server = `
    let text = ''
    const send = (message) => { const body = JSON.stringify({ jsonrpc: '2.0', ...message }); process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body) }
    const tell = (uri, diagnostics) => send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics } })
    const start = { line: 1, character: 4 }
    process.stdin.on('data', (chunk) => {
      text += chunk
      for (let found; (found = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text)); ) {
        const end = found[0].length + Number(found[1])
        if (text.length < end) return
        const { id, method, params } = JSON.parse(text.slice(found[0].length, end))
        text = text.slice(end)
        if (method === 'initialize') send({ id, result: { capabilities: {} } })
        if (method !== 'textDocument/didOpen') continue
        const { uri } = params.textDocument
        setTimeout(() => tell(uri, []), 100)
        setTimeout(() => tell(uri, [{ range: { start, end: start }, message: 'late error', severity: 1 }]), 200)
      }
    })`
  const file = join(tempFolder('mpush-'), 'server.cjs')
  writeFileSync(file, server)
  const { ask } = withServer(`exec node ${file}`, { hasWalls: false })
  expect(await ask({ operation: 'diagnostics', file: 'src/b.ts' })).toEqual({
    text: 'src/b.ts:2:5 error: late error',
    isError: false,
  })
})
