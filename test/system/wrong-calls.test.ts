import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { runLine } from '../../src/cli/run-program.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { runProgram, temporaryFolder } from '../cli/run-sm.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { put } from '../support/git-repository.ts'
import { smProgram } from '../support/programs.ts'
import { runtimeHome } from '../support/runtime-daemon.ts'
import { shared, whenOver } from '../support/shared.ts'
import { sampled } from '../support/size.ts'
import { exampleName, goldenText } from '../support/std-008.ts'
import { type WrongCall, wrongCalls } from '../support/wrong-calls.ts'

const usual = shared(world)

/** A daemon in which nothing happens by itself: what its journal gains, a call has written. */
async function world() {
  const { home, project, settings } = runtimeHome({
    config: 'clis: { shell: { command: bash } }\n',
  })
  const daemon = await startDaemonProcess(home, { env: { ...settings, TMUX_TMPDIR: home } })
  whenOver(() => daemon.kill('SIGKILL'))
  const file = join(home, exampleName)
  writeFileSync(file, goldenText(exampleName))
  const imported = { document: JSON.parse(goldenText(exampleName)) as unknown, filename: exampleName }
  const { shortId } = await daemon.client.importLog(imported)
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    MUSTER_HOME: home,
    LANG: 'C.UTF-8',
    COLUMNS: '60',
    NODE_NO_WARNINGS: '1',
    ...settings,
  }
  /** `sm` in this process, on 60 columns, without a terminal and with nobody who types. */
  const sm = async (args: readonly string[]) => {
    const out: string[] = []
    const told: string[] = []
    const stop = AbortSignal.timeout(120_000)
    const terminal: Terminal = {
      write: async (text) => void out.push(text),
      redraw: async (text) => void out.push(text),
      say: (text) => void told.push(text),
      progress: () => {},
      view: () => ({ width: 60, now: Date.now(), color: false }),
      signal: stop,
      isTerminal: false,
      interrupted: () => (stop.aborted ? 130 : undefined),
    }
    const given = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor
    Object.defineProperty(process, 'stdin', { value: Readable.from([]), configurable: true })
    try {
      const place = () => ({ env, cwd: project, home })
      const code = await runLine(args, { terminal, entryUrl: import.meta.url, place })
      return { code, out: out.join(''), told }
    } finally {
      Object.defineProperty(process, 'stdin', given)
    }
  }
  const process_ = (...args: string[]) =>
    runProgram(process.execPath, [smProgram, ...args], { cwd: project, env })
  const seq = async () => (await daemon.client.health({})).seq
  return { home, project, env, sm, process: process_, shortId, file, seq, client: daemon.client }
}

/** What no person has to know: addresses, fields, the words of a schema, the inside of a program. */
const inside =
  /\/api\/|node:internal|\bat .*\.ts:\d|\bInvalid (input|string|option)|expected .* received|Too (small|big)|must match|Unrecognized|\b[a-z]+_[a-z_]+: |a bug in sm|\bundefined\b|\bNaN\b|\[object/

const faultsOf = (
  call: WrongCall,
  { code, told, out }: { code: number; told: readonly string[]; out: string },
) => {
  const text = told.join('\n')
  if (code === 0) return call.exits.includes(0) ? [] : ['it was taken']
  return [
    ...(call.exits.includes(code) ? [] : [`exit ${code}`]),
    ...(told.length > 3 ? [`${told.length} lines`] : []),
    ...(inside.test(text) ? ['it shows the inside'] : []),
    ...(text.length > 1000 ? [`${text.length} characters`] : []),
    // A refusal says what was wrong, and after that what to do.
    ...(text === '' && out === '' ? ['it says nothing'] : []),
    ...(text === '' || /[;.:,] ?\S/.test(text) ? [] : ['it does not say what to do']),
  ]
}

test('[MUS-380] whatever is wrong with a command line is refused in a few words that say what to do, and changes nothing', async () => {
  const w = await usual()
  const calls = wrongCalls({ session: w.shortId, file: w.file, folder: w.project })
  expect(calls.length).toBeGreaterThan(1500)
  const wrong: unknown[] = []
  for (const call of sampled(calls, 300)) {
    const before = await w.seq()
    const ended = await w.sm(call.words)
    const wrote = (await w.seq()) - before
    const faults = faultsOf(call, ended)
    if (wrote > 0 && ended.code !== 0) faults.push(`it wrote ${wrote} events`)
    if (faults.length > 0)
      wrong.push({ call: `${call.name} | ${call.fault}`, faults, code: ended.code, told: ended.told })
  }
  expect(wrong).toEqual([])
})

test('[MUS-380] what cannot be done with a record leaves it as it was', async () => {
  const { sm, shortId, seq } = await usual()
  const before = { list: (await sm(['all', '--json'])).out, seq: await seq() }
  for (const line of [
    'resume ID',
    'kill ID',
    'send ID x',
    'attach ID',
    'adopt ID',
    'interrupt ID',
    'budget ID 1k',
  ]) {
    const { code, told } = await sm(line.replace('ID', shortId).split(' '))
    expect({ line, code, lines: told.length }).toEqual({ line, code: 4, lines: 1 })
  }
  expect({ list: (await sm(['all', '--json'])).out, seq: await seq() }).toEqual(before)
})

test('[MUS-380] one bad file does not silence the others, and a missing folder is named', async () => {
  const { process: sm, project, file, shortId } = await usual()
  put(project, { 'lines.jsonl': '{"a":1}\n{"b":2}\n', 'broken.json': '{"a":' })
  copyFileSync(file, join(project, exampleName))
  const files = ['gone.json', 'lines.jsonl', '/dev/zero', 'broken.json', exampleName]
  const { code, stdout, stderr } = await sm('log', 'validate', ...files)
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toContain('gone.json does not exist')
  expect(stdout).toContain('lines.jsonl: this is JSON Lines')
  expect(stdout).toContain('/dev/zero is a device')
  expect(stdout).toContain('broken.json: not valid JSON at line 1')
  expect(stdout).toContain(`${exampleName}: valid`)
  const imported = await sm('log', 'import', ...files)
  expect(imported.stdout.match(/: refused: /g)).toHaveLength(4)
  expect(imported.stdout).toContain(`here already, as ${shortId}`)
  const exported = await sm('log', 'export', shortId, '--out', 'no/such/folder/x.json')
  expect(exported).toMatchObject({
    code: 3,
    stderr: `sm: there is no folder ${project}/no/such/folder; create it first\n`,
  })
})

test('[MUS-380] a pipe that nobody reads any more, and folders that are none, end a command quickly and in words', async () => {
  const { env, project } = await usual()
  for (const args of [['journal', 'export'], ['events'], ['all', '--closed'], ['help']]) {
    const child = spawn(process.execPath, [smProgram, ...args], { cwd: project, env })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.stdout.destroy()
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ args, code, said }).toEqual({ args, code: 0, said: '' })
  }
  for (const home of ['/proc', '/etc/passwd', '/dev/null/x', 'relative']) {
    const ended = await runProgram(process.execPath, [smProgram, 'all'], {
      env: { ...env, MUSTER_HOME: home },
    })
    expect(ended.stderr).toMatch(/^sm: [^\n]*set (MUSTER_HOME|it) to [^\n]*\n$/)
    expect([2, 5]).toContain(ended.code)
  }
  const gone = join(temporaryFolder(), 'gone')
  mkdirSync(gone)
  const inGone = spawn('/bin/sh', ['-c', `rmdir "$PWD"; exec "$0" "$1" all`, process.execPath, smProgram], {
    cwd: gone,
    env,
  })
  let said = ''
  inGone.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  onTestFinished(() => void inGone.kill('SIGKILL'))
  expect(await new Promise((resolve) => inGone.once('close', resolve))).toBe(3)
  expect(said).toBe('sm: the folder you are in no longer exists; cd to another one\n')
  expect(() => rmdirSync(gone)).toThrow()
})
