import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { processes, running } from '../../../test/support/bash-bench.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { withoutWalls } from '../../../test/support/without-walls.ts'
import { projectServers } from './find-server.ts'
import { openLsp } from './open-lsp.ts'

const never = new AbortController().signal

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

/** A machine with walls, and one without where a person trusts what the project brings. */
const machines = [
  ['behind walls', () => ({})],
  [
    'trusted, without walls',
    () => ({ env: { ...process.env, ...withoutWalls() }, trustIn: () => () => true }),
  ],
] as const

/** A project whose only language server is this script, installed as people install the older one. */
function withServer(script: string, around: Around = {}) {
  const b = project(around)
  const modules = join(tempFolder('mlsp-'), 'node_modules')
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    writeFileSync(join(modules, name), text, { mode: 0o755 })
  }
  const bin = join(modules, '.bin')
  put('typescript-language-server/package.json', '{"version":"4.3.3"}')
  put('typescript-language-server/lib/cli.sh', `#!/bin/sh\n${script}\n`)
  mkdirSync(bin)
  symlinkSync('../typescript-language-server/lib/cli.sh', join(bin, 'typescript-language-server'))
  rmSync(join(b.workspace, 'node_modules'))
  const env = { ...process.env, ...around.env }
  const lsp = openLsp({ processes, ...around, env: { ...env, PATH: `${bin}:${env['PATH']}` } })
  onTestFinished(() => lsp.close())
  const ask = (input: object, context = {}) => lsp.tool.run(input, { ...b.context, ...context })
  return { ...b, lsp, ask, modules, putModule: put }
}

describe.each(machines)('LSP (%s)', (_name, around) => {
  test('[MUS-270] definitions, references, types, symbols and errors come from the real server', async () => {
    const { ask } = project(around())
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
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({ ok: true })
  rmSync(join(b.workspace, 'node_modules'))
  const none = await b.lsp.present(b.workspace, never)
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
  const b = withServer('exec node "$(dirname "$(realpath "$0")")/server.cjs"')
  b.putModule('typescript-language-server/lib/server.cjs', server)
  const { ask } = b
  expect(await ask({ operation: 'diagnostics', file: 'src/b.ts' })).toEqual({
    text: 'src/b.ts:2:5 error: late error',
    isError: false,
  })
})

/** A project that somebody cloned: whatever could be its language server is a program of theirs. */
function hostile(around: Around = {}) {
  const b = project(around)
  const marks = tempFolder('mfired-')
  const plant = (name: string, script: string) => {
    writeFileSync(b.put(`node_modules/.bin/${name}`), `#!/bin/bash\n${script}\n`)
    chmodSync(join(b.workspace, 'node_modules/.bin', name), 0o755)
  }
  rmSync(join(b.workspace, 'node_modules'))
  b.put('node_modules/typescript/package.json', '{"version":"7.0.0"}')
  for (const name of ['tsc', 'tsgo', 'typescript-language-server']) plant(name, `: > ${marks}/${name}`)
  return { ...b, plant, fired: () => readdirSync(marks).toSorted() }
}

test('[MUS-356] a language server that the project brings does not run without walls, unless a person trusts it', async () => {
  const trusted = new Map<string, string>()
  const seen: string[] = []
  const trustIn = () => (file: string, sha256: string) => {
    seen.push(file)
    return trusted.get(file) === sha256
  }
  const open = withoutWalls()
  const b = hostile({ env: open, trustIn })
  const search = { operation: 'symbols', query: 'x' }
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({
    ok: false,
    isHeld: true,
    reason: expect.stringMatching(/node_modules\/\.bin\/tsc .*sm trust/),
  })
  expect(await b.ask(search)).toMatchObject({ isError: true, text: expect.stringContaining('sm trust') })
  // Nor when the PATH leads into the project, by a link too.
  const link = join(tempFolder('mlink-'), 'bin')
  symlinkSync(join(b.workspace, 'node_modules/.bin'), link)
  for (const folder of [link, join(b.workspace, 'node_modules/.bin')]) {
    const lsp = openLsp({ env: { PATH: `${folder}:${open.PATH}` }, processes })
    expect(await lsp.present(b.workspace, never)).toMatchObject({ ok: false, isHeld: true })
    expect(await lsp.tool.run(search, b.context)).toMatchObject({ isError: true })
    await lsp.close()
  }
  expect(b.fired()).toEqual([])
  expect(seen).toEqual(expect.arrayContaining(['node_modules/.bin/tsc', 'node_modules/.bin/tsgo']))

  for (const { file, sha256 } of await projectServers(b.workspace))
    if (file.endsWith('tsgo')) trusted.set(file, sha256)
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({
    argv: [join(b.workspace, 'node_modules/.bin/tsgo'), '--lsp', '-stdio'],
  })
  await b.ask(search)
  expect(b.fired()).toEqual(['tsgo'])
  // What was trusted is those bytes.
  b.plant('tsgo', 'exit 1')
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({ ok: false, isHeld: true })
})

test('[MUS-356] behind walls the server of a project reaches no network and no other process', async () => {
  let calls = 0
  const outside = createServer((socket) => {
    calls += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void outside.close())
  const { port } = outside.address() as AddressInfo
  const b = hostile()
  const tries = `(exec 3<>/dev/tcp/127.0.0.1/${port}) && echo reached; kill -0 ${process.pid} && echo alive`
  b.plant('tsc', `{ ${tries}; echo tried; } >&2; exit 1`)
  const said = await b.ask({ operation: 'symbols', query: 'x' })
  expect(said.text).toMatch(/tried$/)
  expect(said.text).not.toMatch(/reached|alive/)
  expect(calls).toBe(0)
})

test('[MUS-356] without walls the older server works with the TypeScript beside it, never with that of the project', async () => {
  const log = join(tempFolder('mlog-'), 'log')
  const env = withoutWalls()
  const b = withServer(`{ read -r size; read -r _; size=\${size#*: }; head -c "\${size%?}"; } > ${log}`, {
    env,
  })
  // Alone it would run what the project has.
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({ ok: false })
  b.putModule('typescript/lib/tsserver.js', '')
  await b.ask({ operation: 'symbols', query: 'x' })
  expect(readFileSync(log, 'utf8')).toContain(JSON.stringify(realpathSync(join(b.modules, 'typescript/lib'))))
  b.putModule('typescript-language-server/package.json', '{"version":"3.3.2"}')
  expect(await b.lsp.present(b.workspace, never)).toMatchObject({ ok: false })
})
