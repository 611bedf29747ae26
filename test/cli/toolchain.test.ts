import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, runProgram, temporaryFolder } from './run-sm.ts'

function write(folder: string, files: Record<string, string>, mode = 0o644): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text, { mode })
  }
}

/** A checkout with the real scripts; its packages are not installed. */
function bareCheckout(): string {
  const folder = temporaryFolder()
  for (const file of ['scripts', 'src/contract/agent-clis.ts', 'package.json', 'package-lock.json']) {
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  return folder
}

/** An npm that notes how it was called and installs a Node that is the one of this test. */
function noteTakingNpm(
  folder: string,
  install = 'mkdir -p node_modules/node/bin && ln -sf "$NODE" node_modules/node/bin/node',
) {
  write(
    folder,
    { 'bin/npm': `#!/bin/sh\necho "$*" >> "$NOTES"\necho "$PATH" > "$NOTES.path"\n${install}\n` },
    0o755,
  )
  const notes = join(folder, 'notes')
  const path = `${join(folder, 'node_modules', '.bin')}:${join(folder, 'bin')}:/usr/bin:/bin`
  return { notes, env: { NODE: process.execPath, NOTES: notes, PATH: path, HOME: folder } }
}

const setup = (folder: string, env: Record<string, string>) =>
  runProgram(
    process.execPath,
    [
      '-e',
      `import(${JSON.stringify(join(folder, 'scripts/setup.mjs'))}).then((m) => m.main(() => console.log(m.install())))`,
    ],
    { cwd: folder, env },
  )

describe('setting up', () => {
  test('[MUS-216] packages are installed once, by npm ci, and again when the lockfile changes', async () => {
    const folder = bareCheckout()
    const { notes, env } = noteTakingNpm(folder)
    expect(await setup(folder, env)).toMatchObject({ code: 0, stdout: 'true\n' })
    expect(await setup(folder, env)).toEqual({ code: 0, stdout: 'false\n', stderr: '' })
    expect(readFileSync(notes, 'utf8')).toMatch(
      /^(ci|install --no-save) --no-audit --no-fund --loglevel=error\n$/,
    )
    writeFileSync(join(folder, 'package-lock.json'), '{"packages":{"node_modules/a":{"version":"2"}}}')
    expect(await setup(folder, env)).toMatchObject({ stdout: 'true\n' })
  })

  test('[MUS-216] a lockfile for every platform is installed by npm ci, one for this platform only is not refused', async () => {
    const asks = async (packages: object) => {
      const folder = bareCheckout()
      const { notes, env } = noteTakingNpm(folder)
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
      await setup(folder, env)
      return readFileSync(notes, 'utf8').split(' ')[0]
    }
    const tool = { version: '1', optionalDependencies: { '@tool/linux': '1', '@tool/mac': '1' } }
    const some = { 'node_modules/tool': tool, 'node_modules/@tool/linux': { version: '1', optional: true } }
    expect(await asks(some)).toBe('install')
    expect(await asks({ ...some, 'node_modules/@tool/mac': { version: '1', optional: true } })).toBe('ci')
  })

  test('[MUS-216] what npm installed by hand is taken as it is, when it fits', async () => {
    const folder = bareCheckout()
    const { notes, env } = noteTakingNpm(folder)
    mkdirSync(join(folder, 'node_modules/node/bin'), { recursive: true })
    symlinkSync(process.execPath, join(folder, 'node_modules/node/bin/node'))
    cpSync(join(root, 'node_modules/.package-lock.json'), join(folder, 'node_modules/.package-lock.json'))
    expect(await setup(folder, env)).toEqual({ code: 0, stdout: 'false\n', stderr: '' })
    expect(existsSync(notes)).toBe(false)
  })

  test('[MUS-216] npm never runs on a Node that it is about to replace', async () => {
    const folder = bareCheckout()
    const { notes, env } = noteTakingNpm(folder)
    await setup(folder, env)
    expect(readFileSync(`${notes}.path`, 'utf8')).not.toContain('node_modules')
  })

  test('[MUS-216] two first starts at once install once', async () => {
    const folder = bareCheckout()
    const { notes, env } = noteTakingNpm(
      folder,
      'sleep 0.3; mkdir -p node_modules/node/bin && ln -sf "$NODE" node_modules/node/bin/node',
    )
    const both = await Promise.all([setup(folder, env), setup(folder, env)])
    expect(both.map(({ stdout }) => stdout).sort()).toEqual(['false\n', 'true\n'])
    expect(readFileSync(notes, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(existsSync(join(folder, '.muster-setup'))).toBe(false)
  })

  test('[MUS-216] the lock of a setup that was killed is taken over', async () => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    write(folder, { '.muster-setup/pid': '999999999' })
    expect(await setup(folder, env)).toMatchObject({ code: 0, stdout: 'true\n' })
  })

  test('[MUS-216] a failing or missing npm is one clear line', async () => {
    const failing = bareCheckout()
    const failed = await setup(failing, noteTakingNpm(failing, 'echo "network down" >&2; exit 1').env)
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/network down\nmuster: npm (ci|install) failed; its output is above\n$/)
    const without = bareCheckout()
    const missing = await setup(without, { PATH: join(without, 'nothing'), HOME: without })
    expect(missing.stderr).toContain('npm could not be started')
  })
})

describe('npm start', () => {
  const sm = '#!/bin/sh\necho "up: $*"\n'

  test('[MUS-212][MUS-213] starts the daemon, says what it found by asking, and the next three commands', async () => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    write(
      folder,
      { sm, 'bin/claude': '#!/bin/sh\necho "2.1.325 (Claude Code)"\n', 'bin/codex': '#!/bin/sh\nexit 3\n' },
      0o755,
    )
    const { code, stdout } = await runProgram(
      process.execPath,
      [join(folder, 'scripts/run.mjs'), 'scripts/start.mjs'],
      {
        cwd: folder,
        env: { ...env, ANTHROPIC_API_KEY: 'sk-ant-not-shown', PATH: env.PATH },
      },
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^up: up\n/)
    expect(stdout).toMatch(/\n {2}git +\d+\.\d+/)
    expect(stdout).toContain('\n  claude    2.1.325\n')
    expect(stdout).toContain('\n  codex     found, version unknown\n')
    expect(stdout).toMatch(/\n {2}opencode {2}\S/)
    expect(stdout).toContain('\n  keys      ANTHROPIC_API_KEY\n')
    expect(stdout).not.toContain('sk-ant')
    expect(stdout.split('\nNext\n')[1]?.trim().split('\n')).toHaveLength(3)
    expect(stdout).toContain('\nup: demo --once\n')
  })

  test('[MUS-214] where something has happened already, that is shown instead; neither can fail the start', async () => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    const start = () =>
      runProgram(process.execPath, [join(folder, 'scripts/run.mjs'), 'scripts/start.mjs'], {
        cwd: folder,
        env,
      })
    const script = (more: string) => ({
      sm: `#!/bin/sh\ncase $1 in demo) ${more};; all) echo "  sm all: a session";; esac\n`,
    })
    write(folder, script(':'), 0o755)
    expect(await start()).toMatchObject({ code: 0, stdout: expect.stringContaining('sm all: a session') })
    write(folder, script('echo "sm: no" >&2; exit 6'), 0o755)
    expect(await start()).toMatchObject({ code: 0, stderr: expect.stringContaining('sm: no') })
    write(folder, script("printf 'Look\\n  sm all\\n'"), 0o755)
    expect((await start()).stdout).toContain('Look\n  ./sm all\n')
  })

  test('[MUS-212] when the daemon cannot start, that is the exit', async () => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    write(folder, { sm: '#!/bin/sh\necho "sm: no" >&2\nexit 6\n' }, 0o755)
    const ended = await runProgram(process.execPath, [join(folder, 'scripts/run.mjs'), 'scripts/start.mjs'], {
      cwd: folder,
      env,
    })
    expect(ended).toMatchObject({ code: 6, stdout: '' })
  })
})

describe('the judgement of a test run', () => {
  const tallied = async (checkExit: number, ...runs: readonly (readonly [unknown, number])[]) => {
    const args = runs.flatMap(([report, exit]) => {
      const file = join(temporaryFolder(), 'report.json')
      if (report !== undefined)
        writeFileSync(file, typeof report === 'string' ? report : JSON.stringify(report))
      return [file, String(exit)]
    })
    const script = join(root, 'scripts/tally.mjs')
    const { code, stdout } = await runProgram(process.execPath, [script, String(checkExit), ...args])
    return { code, last: stdout.trimEnd().split('\n').at(-1) }
  }
  const tally = (report: unknown, checkExit = 0, testExit = 0) => tallied(checkExit, [report, testExit])
  const file = (...statuses: string[]) => ({
    name: 'a.test.ts',
    status: statuses.includes('failed') ? 'failed' : 'passed',
    assertionResults: statuses.map((status, i) => ({ status, fullName: `test ${i}` })),
  })

  test('[MUS-215] all passed is exit 0', async () => {
    expect(await tally({ testResults: [file('passed', 'passed'), file('passed')] })).toEqual({
      code: 0,
      last: '3 passed, 0 failed',
    })
  })

  test.each(['failed', 'pending', 'skipped', 'todo'])(
    '[MUS-215] a test that is %s counts as failed',
    async (status) => {
      expect(await tally({ testResults: [file('passed', status)] }, 0, 1)).toEqual({
        code: 1,
        last: '1 passed, 1 failed',
      })
    },
  )

  test('[MUS-215] what is outside the tests fails too', async () => {
    const good = { testResults: [file('passed')] }
    expect(await tally(good, 1)).toEqual({ code: 1, last: '1 passed, 1 failed' })
    expect(await tally(good, 0, 1)).toEqual({ code: 1, last: '1 passed, 1 failed' })
    expect(await tally({ testResults: [file('passed'), { ...file(), status: 'failed' }] }, 0, 1)).toEqual({
      code: 1,
      last: '1 passed, 1 failed',
    })
    expect(await tally({ testResults: [] })).toEqual({ code: 1, last: '0 passed, 1 failed' })
    expect(await tally(undefined, 0, 1)).toEqual({ code: 1, last: '0 passed, 1 failed' })
    expect(await tally('{"testRes', 0, 1)).toEqual({ code: 1, last: '0 passed, 1 failed' })
  })

  test('[MUS-215] several runs are one tally, and one that fails fails it', async () => {
    const good = { testResults: [file('passed', 'passed')] }
    const bad = { testResults: [file('passed', 'skipped')] }
    expect(await tallied(0, [good, 0], [good, 0])).toEqual({ code: 0, last: '4 passed, 0 failed' })
    expect(await tallied(0, [good, 0], [bad, 0])).toEqual({ code: 1, last: '3 passed, 1 failed' })
    expect(await tallied(0, [bad, 0], [good, 0])).toEqual({ code: 1, last: '3 passed, 1 failed' })
    expect(await tallied(0, [good, 0], [undefined, 1])).toEqual({ code: 1, last: '2 passed, 1 failed' })
    expect(await tallied(1, [good, 0], [good, 1])).toEqual({ code: 1, last: '4 passed, 2 failed' })
  })
})

describe('npm run campaign', () => {
  const campaign = (folder: string, args: string[], env: Record<string, string>) =>
    runProgram(process.execPath, [join(folder, 'scripts/campaign.mjs'), ...args], { cwd: folder, env })

  test('[MUS-215] lists the names, runs one with its settings, and refuses an unknown one', async () => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    write(folder, {
      'test/campaigns/crash.ts':
        "console.log(process.env['MUSTER_CAMPAIGN'], process.env['MUSTER_CAMPAIGN_SEED'], process.env['MUSTER_CAMPAIGN_KILL_EVERY'])\nprocess.exit(7)\n",
      'test/campaigns/soak.ts': '',
      'test/campaigns/soak.test.ts': '',
      'scripts/build.ts': '',
    })
    expect((await campaign(folder, [], env)).stdout).toMatch(/\n\ncrash\nsoak\n$/)
    const ran = await campaign(folder, ['crash', '--seed', '7', '--kill-every', '3'], env)
    expect(ran).toMatchObject({ code: 7, stdout: 'crash 7 3\n' })
    const unknown = await campaign(folder, ['crush'], env)
    expect(unknown).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'muster: no campaign crush; there are: crash, soak\n',
    })
    expect((await campaign(folder, ['crash', '--seed'], env)).code).toBe(1)
  })
})

describe('npm test', () => {
  const tests = (args: readonly string[]) => {
    const folder = bareCheckout()
    const { env } = noteTakingNpm(folder)
    write(folder, {
      'scripts/build.ts': '',
      'node_modules/vitest/vitest.mjs':
        'console.log(process.argv.slice(2).join(" "), process.version)\nprocess.exit(3)\n',
    })
    const script = join(folder, 'scripts/test.mjs')
    return runProgram(process.execPath, [script, ...args], { cwd: folder, env })
  }

  test('[MUS-215] sets up, builds, hands its arguments to vitest, says how long it took and ends as vitest does', async () => {
    const { code, stdout, stderr } = await tests(['test/a.test.ts', '--bail=1'])
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: `run --project=pure --project=real test/a.test.ts --bail=1 ${process.version}\n`,
    })
    expect(stderr).toMatch(/\nmuster: took \d+ min \d+ s in all\n$/)
  })

  test('[MUS-215] leaves every CLI and crews at length out unless they are asked for', async () => {
    const { stdout } = await tests(['--long', 'test/a.test.ts'])
    const few = `--maxWorkers=${Math.ceil(availableParallelism() * 2.5)}`
    expect(stdout).toBe(`run --project=matrix --project=crews ${few} test/a.test.ts ${process.version}\n`)
    expect((await tests(['--project', 'matrix'])).stdout).toBe(`run --project matrix ${process.version}\n`)
  })
})

describe('.ci/run', () => {
  const judged = async (checkExit: number, statuses: readonly string[]) => {
    const folder = temporaryFolder()
    for (const file of ['.ci/run', 'scripts/tally.mjs']) cpSync(join(root, file), join(folder, file))
    const assertionResults = statuses.map((status) => ({ status, fullName: 'a' }))
    const report = JSON.stringify({
      testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults }],
    })
    const npm = `#!/bin/sh
echo "$3 CI=$CI size=$MUSTER_TEST_SIZE stdin=$(cat)"
case $3 in check) exit ${checkExit} ;; esac
for word; do case $word in --outputFile.json=*) echo '${report}' > "\${word#*=}" ;; esac; done
`
    write(folder, { 'bin/npm': npm }, 0o755)
    const env = { PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin` }
    return runProgram(join(folder, '.ci/run'), [], { cwd: '/', env, input: 'must not be read' })
  }

  test('[MUS-215] checks, runs the tests at full size, then the long ones, and ends with one tally', async () => {
    const good = await judged(0, ['passed', 'passed'])
    expect(good).toMatchObject({ code: 0, stderr: '' })
    const called = ['clis', 'check', 'test', 'test:long']
    expect(good.stdout).toBe(
      `${called.map((name) => `${name} CI=true size=full stdin=\n`).join('')}4 passed, 0 failed\n`,
    )
    const skipped = await judged(0, ['passed', 'pending'])
    expect(skipped.code).toBe(1)
    expect(skipped.stdout).toMatch(/\n2 passed, 2 failed\n$/)
    const unchecked = await judged(1, ['passed'])
    expect(unchecked.code).toBe(1)
    expect(unchecked.stdout).toMatch(/failed: npm run check\n2 passed, 1 failed\n$/)
  })
})
