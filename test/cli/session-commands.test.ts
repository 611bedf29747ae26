import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { messageCommands } from '../../src/cli/commands/messages.ts'
import { sessionLookCommands } from '../../src/cli/commands/session-look.ts'
import { sessionReportCommands } from '../../src/cli/commands/session-report.ts'
import { sessionCommands } from '../../src/cli/commands/sessions.ts'
import type { CommandInput } from '../../src/contract/cli.ts'
import { AppError } from '../../src/contract/errors.ts'
import { type MessageView, SessionView, SpawnedView } from '../../src/contract/session-views.ts'
import { inside, recorder } from './recorder.ts'
import {
  progress as anyProgress,
  detail,
  ended,
  longId,
  milestone,
  session,
  spawned,
} from './session-data.ts'
import { type Answers, collect, world } from './world.ts'

const { approve, reject, send } = messageCommands
const { all, children, progress, status } = sessionLookCommands
const {
  alone,
  checkpoint,
  'checkpoint diff': checkpointDiff,
  complete,
  me,
  others,
  who,
} = sessionReportCommands
const { interrupt, kill, spawn } = sessionCommands

test('[SM-6] the sessions of these tests are sessions of the contract', () => {
  expect(SessionView.safeParse(session('abc123')).error).toBeUndefined()
  expect(SpawnedView.safeParse(spawned).error).toBeUndefined()
})

describe('spawn', () => {
  const input = (more: Partial<CommandInput<'spawn'>> = {}): CommandInput<'spawn'> => ({
    'agent-type': 'Engineer',
    prompt: 'Implement it',
    model: undefined,
    args: [],
    preset: undefined,
    parent: undefined,
    'working-dir': undefined,
    name: undefined,
    cli: undefined,
    'permission-mode': undefined,
    mode: undefined,
    worktree: undefined,
    isolation: undefined,
    budget: [],
    'prompt-file': undefined,
    'dry-run': false,
    wait: undefined,
    quiet: false,
    ...more,
  })
  const run = async (more: Partial<CommandInput<'spawn'>>, answers: Partial<Answers> = {}) => {
    const { client, asked } = recorder({ spawnSession: [spawned] })
    const { io, said } = world({ client, ...answers })
    const data = await collect(spawn.run(input(more), io))
    return { data, said, io, request: asked[0]?.input }
  }

  test('[SM-13] without options it sends type, prompt and the environment, with the folder it runs in', async () => {
    const { request, io, data } = await run({}, { env: { PATH: '/bin', PWD: '/elsewhere' } })
    expect(request).toEqual({
      agent_type: 'Engineer',
      prompt: 'Implement it',
      environment: { PATH: '/bin', PWD: io.cwd },
    })
    expect(data).toEqual([spawned])
  })

  test('[SM-15][SM-16][SM-17][SM-19][SM-20] every option reaches the daemon under its name', async () => {
    const { request, io } = await run({
      model: 'opus',
      args: ["--x 'a b'", '-y'],
      preset: 'quick-fix',
      parent: 'em',
      'working-dir': 'sub',
      name: 'task1042',
      cli: 'codex',
      'permission-mode': 'bypass',
      mode: 'manual',
      worktree: '',
      budget: ['200k', '5usd'],
      'dry-run': true,
    })
    expect(request).toEqual({
      agent_type: 'Engineer',
      prompt: 'Implement it',
      model: 'opus',
      args: ['--x', 'a b', '-y'],
      preset: 'quick-fix',
      parent: 'em',
      working_dir: join(io.cwd, 'sub'),
      name: 'task1042',
      cli: 'codex',
      permission_mode: 'bypass',
      mode: 'manual',
      worktree: '',
      budget: { tokens: 200_000, usd: 5 },
      dry_run: true,
      environment: { PWD: io.cwd },
    })
  })

  test('[SM-18] inside a session the parent is that session, and another may be named', async () => {
    expect((await run({}, { env: inside })).request).toMatchObject({ parent: inside.MUSTER_SESSION })
    expect((await run({ parent: 'em' }, { env: inside })).request).toMatchObject({ parent: 'em' })
    expect((await run({})).request).not.toHaveProperty('parent')
  })

  test('[SM-122] who the caller is stays with the caller, and what is too long stays out', async () => {
    const { request } = await run({}, { env: { ...inside, KEPT: '1', LONG: 'x'.repeat(200_000) } })
    expect(Object.keys(request?.['environment'] as object).sort()).toEqual(['KEPT', 'PWD'])
  })

  test('[SM-13] the prompt may come from a file, but not from two places', async () => {
    const { io } = world({})
    const file = join(io.cwd, 'prompt.md')
    writeFileSync(file, 'From a file\n')
    expect((await run({ prompt: undefined, 'prompt-file': file })).request).toMatchObject({
      prompt: 'From a file',
    })
    await expect(run({ 'prompt-file': file })).rejects.toMatchObject({ code: 'invalid' })
    await expect(run({ prompt: undefined, 'prompt-file': '/no/such' })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect((await run({ prompt: undefined })).request).toMatchObject({ prompt: '' })
  })

  test('[SM-45] what the daemon warns of is told', async () => {
    const { client } = recorder({ spawnSession: [{ ...spawned, warnings: ['--plan was read as x'] }] })
    const { io, said } = world({ client })
    await collect(spawn.run(input(), io))
    expect(said).toEqual(['warning: --plan was read as x'])
  })

  test('[SM-22] --quiet prints the id alone', () => {
    expect(spawn.render(spawned, { width: 80, now: 0, color: false }, input({ quiet: true }))).toBe('abc123')
  })

  test('[SM-13] --wait stays to its end, and a bad end is exit 1', async () => {
    const over = detail('abc123', { status: 'error', completion_status: 'error' })
    const { client } = recorder({
      spawnSession: [spawned],
      health: [{ seq: 7 }],
      getSession: [detail('abc123'), over],
    })
    const { io } = world({ client: { ...client, streamEvents: async function* () {} } })
    const data = await collect(spawn.run(input({ wait: 0 }), io))
    expect(data).toEqual([spawned, over])
    expect(data.map((one) => spawn.exitCode?.(one))).toEqual([0, 1])
  })
})

describe('which session is meant', () => {
  const named = { recursive: false, status: undefined }

  test('[SM-23] outside of a session one has to be named, and it says so', async () => {
    const { io } = world({})
    for (const asked of [
      () => collect(children.run({ session: undefined, ...named }, io)),
      () => collect(checkpoint.run({ message: 'm', metadata: [], session: undefined }, io)),
      async () => progress.run({ session: undefined, watch: undefined }, io),
    ])
      await expect(asked()).rejects.toMatchObject({
        code: 'invalid',
        message: 'this is not inside a session; name one, sm all lists them',
      })
  })

  test('[SM-23][SM-33] inside of one it is that one', async () => {
    const { client, asked } = recorder({
      listChildren: [{ children: [] }],
      addCheckpoint: [milestone(1, '15:10', 'm')],
    })
    const { io, said } = world({ client, env: inside })
    await collect(children.run({ session: undefined, recursive: true, status: 'running' }, io))
    await collect(checkpoint.run({ message: 'm', metadata: [], session: undefined }, io))
    expect(asked.map(({ input }) => input)).toEqual([
      { id: inside.MUSTER_SESSION, recursive: true, status: 'running' },
      { id: inside.MUSTER_SESSION, message: 'm' },
    ])
    expect(said).toEqual(['No child sessions.'])
  })
})

test('[SM-33][SM-34] metadata is read as JSON where it is some; without a value it is refused', async () => {
  const { client, asked } = recorder({ addCheckpoint: [milestone(1, '15:10', 'm')] })
  const { io } = world({ client, env: inside })
  const metadata = ['coverage=0', 'ok=true', 'url=http://x/?a=b', 'list=[1]', 'word=3/5', 'empty=']
  const data = await collect(checkpoint.run({ message: 'm', metadata, session: 'def456' }, io))
  expect(asked[0]?.input).toEqual({
    id: 'def456',
    message: 'm',
    metadata: { coverage: 0, ok: true, url: 'http://x/?a=b', list: [1], word: '3/5', empty: '' },
  })
  expect(checkpoint.render(data[0] as never, {} as never, {} as never)).toBe('Checkpoint recorded')
  for (const bad of ['coverage', '=1'])
    await expect(
      collect(checkpoint.run({ message: 'm', metadata: [bad], session: 'x' }, io)),
    ).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('key=value') })
})

test('[SM-111] milestones are compared by their numbers', async () => {
  const { client, asked } = recorder({ diffCheckpoints: [{}] })
  const { io } = world({ client })
  await collect(checkpointDiff.run({ from: '1', to: '#3', session: 's' }, io))
  await collect(checkpointDiff.run({ from: '2', to: undefined, session: 's' }, io))
  expect(asked.map(({ input }) => input)).toEqual([
    { id: 's', from: 1, to: 3 },
    { id: 's', from: 2 },
  ])
  await expect(
    collect(checkpointDiff.run({ from: '0', to: undefined, session: 's' }, io)),
  ).rejects.toMatchObject({
    code: 'invalid',
  })
})

test('[SM-37][SM-38] complete speaks for the session it runs in', async () => {
  const { client, asked } = recorder({ completeSession: [session('abc123')] })
  const { io } = world({ client, env: inside })
  await collect(complete.run({ message: 'Done', status: undefined, session: undefined }, io))
  await collect(complete.run({ message: undefined, status: 'error', session: undefined }, io))
  expect(asked.map(({ input }) => input)).toEqual([
    { id: inside.MUSTER_SESSION, message: 'Done' },
    { id: inside.MUSTER_SESSION, status: 'error' },
  ])
})

describe('progress', () => {
  test('[SM-32][SM-91] --watch looks again every 5 seconds and ends with the session', async () => {
    const states = [anyProgress, anyProgress, { ...anyProgress, is_complete: true }]
    const { client } = recorder({ getProgress: states })
    const { io, slept } = world({ client })
    const seen = await collect(progress.run({ session: 'def456', watch: 5 }, io) as AsyncIterable<unknown>)
    expect(seen.map((one) => (one as typeof anyProgress).is_complete)).toEqual([false, false, true])
    expect(slept).toEqual([5000, 5000])
    expect(progress.isRedrawn?.({ session: 'def456', watch: 5 })).toBe(true)
    expect(progress.isRedrawn?.({ session: 'def456', watch: undefined })).toBe(false)
  })
})

describe('send', () => {
  const message = (more: Partial<MessageView>): MessageView => ({
    message_id: 'msg_1',
    session_id: 'def456',
    from: null,
    mode: 'sequential',
    state: 'queued',
    preview: 'hi',
    detail: null,
    queued_at: '',
    accepted_at: null,
    failed_at: null,
    ...more,
  })
  const input = (more: Partial<CommandInput<'send'>> = {}): CommandInput<'send'> => ({
    sessions: 'def456',
    text: 'hi',
    important: false,
    urgent: false,
    wait: undefined,
    file: undefined,
    ...more,
  })
  const run = async (answers: Record<string, unknown[]>, more: Partial<CommandInput<'send'>> = {}) => {
    const { client, asked } = recorder(answers)
    const { io, said, slept } = world({ client })
    const data: MessageView[] = []
    let failure: unknown
    try {
      for await (const one of send.run(input(more), io) as AsyncIterable<MessageView>) data.push(one)
    } catch (error) {
      failure = error
    }
    return { data, asked, said, slept, failure }
  }

  test('[SM-42] what is taken in a moment is told as sent', async () => {
    const { data, asked } = await run({
      sendMessage: [message({})],
      getMessage: [message({ state: 'submitted' }), message({ state: 'accepted' })],
    })
    expect(data).toEqual([message({ state: 'accepted' })])
    expect(asked.map(({ input: sent }) => sent)).toEqual([
      { id: 'def456', text: 'hi', mode: 'sequential' },
      { message: 'msg_1' },
      { message: 'msg_1' },
    ])
  })

  test('[SM-42] what has a reason to wait is told as queued at once, without a reason after 2 seconds', async () => {
    const busy = message({ detail: 'it is working' })
    expect(await run({ sendMessage: [busy] })).toMatchObject({ data: [busy], slept: [] })
    const { data, slept } = await run({ sendMessage: [message({})], getMessage: [message({})] })
    expect(data).toEqual([message({})])
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(2000)
    expect(send.exitCode?.(message({}))).toBe(0)
  })

  test('[SM-42] --wait stays until it is taken, and exits 4 when time is up', async () => {
    const busy = message({ detail: 'it is working' })
    const late = await run(
      { sendMessage: [busy], getMessage: [busy, busy, busy, busy, message({ state: 'accepted' })] },
      { wait: 60 },
    )
    expect(late.data).toEqual([message({ state: 'accepted' })])
    const never = await run({ sendMessage: [busy], getMessage: [busy] }, { wait: 3 })
    expect(never.failure).toMatchObject({
      code: 'timeout',
      message: 'not accepted after 3 s. Queued for session def456 (msg_1): it is working',
    })
  })

  test('[SM-42] a message that failed is never told as sent', async () => {
    const failed = message({ state: 'failed', detail: 'gone' })
    expect((await run({ sendMessage: [failed] })).data).toEqual([failed])
    expect(send.exitCode?.(failed)).toBe(1)
  })

  test('[SM-42][SM-94] several get it each, and one that is not there does not keep it from the others', async () => {
    const missing = new AppError('not_found', 'no session b')
    const taken = message({ state: 'accepted' })
    const { data, asked, failure } = await run(
      { sendMessage: [taken, missing, taken] },
      { sessions: 'a, b,c,a' },
    )
    expect(asked.map(({ input: sent }) => sent['id'])).toEqual(['a', 'b', 'c'])
    expect(data).toHaveLength(2)
    expect(failure).toBe(missing)
  })

  test('[SM-94] urgency is one of three', async () => {
    const taken = { sendMessage: [message({ state: 'accepted' })] }
    const mode = async (more: Partial<CommandInput<'send'>>) =>
      (await run(taken, more)).asked[0]?.input['mode']
    expect(await mode({ important: true })).toBe('important')
    expect(await mode({ urgent: true })).toBe('urgent')
    expect((await run(taken, { urgent: true, important: true })).failure).toMatchObject({ code: 'invalid' })
    expect((await run(taken, { text: undefined })).failure).toMatchObject({ code: 'invalid' })
    expect((await run(taken, { sessions: ',' })).failure).toMatchObject({ code: 'invalid' })
  })
})

describe('kill', () => {
  test('[SM-85][SM-125] who dies is shown first, and a descendant dies once', async () => {
    const dead = (id: string) => session(id, { status: 'killed' })
    const doomed = (...ids: string[]) => ({
      sessions: ids.map((id) => ({
        session: session(id, { current_task: 'Writing tests' }),
        unsaved: id === 'abc123' ? ['2 messages not delivered yet'] : [],
      })),
    })
    const { client, asked } = recorder({
      listUnsaved: [doomed('abc123', 'def456'), doomed('def456'), doomed('ghi789')],
      killSession: [
        { killed: [dead('def456'), dead('abc123')], left: [], suspects: [] },
        { killed: [dead('ghi789')], left: [7], suspects: [] },
      ],
    })
    const { io, said } = world({ client })
    const sessions = ['abc', 'def', 'ghi']
    const [data] = await collect(kill.run({ sessions, force: true, reason: 'stuck' }, io))
    expect(said).toEqual([
      'engineer-abc123 (abc123) | running | 10min ago | Writing tests',
      '  unsaved: 2 messages not delivered yet',
      'engineer-def456 (def456) | running | 10min ago | Writing tests',
      'engineer-ghi789 (ghi789) | running | 10min ago | Writing tests',
    ])
    expect(asked.slice(3)).toEqual([
      { route: 'killSession', input: { id: longId('abc123'), force: true, reason: 'stuck' } },
      { route: 'killSession', input: { id: longId('ghi789'), force: true, reason: 'stuck' } },
    ])
    expect(data?.killed.map(({ session_id }) => session_id)).toEqual(['def456', 'abc123', 'ghi789'])
    expect(kill.exitCode?.(data as never)).toBe(1)
  })

  test('[SM-85] a mistyped one keeps all of them alive', async () => {
    const { client, asked } = recorder({
      listUnsaved: [{ sessions: [] }, new AppError('not_found', 'no')],
    })
    const input = { sessions: ['abc123', 'x'], force: false, reason: undefined }
    await expect(collect(kill.run(input, world({ client }).io))).rejects.toMatchObject({ code: 'not_found' })
    expect(asked.every(({ route }) => route === 'listUnsaved')).toBe(true)
  })
})

test('[MUS-335] one session that cannot be interrupted does not keep the others from it, and its refusal is the end', async () => {
  const refused = new AppError('failed', 'nothing shows that it stopped')
  const { client, asked } = recorder({ interruptSession: [refused, {}] })
  const { io } = world({ client })
  await expect(collect(interrupt.run({ sessions: ['one', 'two'] }, io))).rejects.toBe(refused)
  expect(asked.map(({ input }) => input['id'])).toEqual(['one', 'two'])
})

test('[SM-80][SM-81] decisions carry their scope, answers and reason', async () => {
  const { client, asked } = recorder({ health: [{ seq: 1 }], decideApproval: [{}] })
  const { io } = world({ client })
  const ask = (more: Partial<CommandInput<'approve'>>) =>
    collect(approve.run({ id: 'def456', always: false, session: false, answer: [], ...more }, io))
  await ask({})
  await ask({ always: true })
  await ask({ session: true, answer: ['Use JWT'] })
  await ask({ answer: ['Which store?=Redis', 'Which port? = 80'] })
  await collect(reject.run({ id: 'def456', reason: 'no' }, io))
  expect(asked.map(({ input }) => input).filter((input) => 'verdict' in input)).toEqual([
    { id: 'def456', verdict: 'allow', scope: 'once' },
    { id: 'def456', verdict: 'allow', scope: 'always' },
    { id: 'def456', verdict: 'allow', scope: 'session', answers: { '*': 'Use JWT' } },
    {
      id: 'def456',
      verdict: 'allow',
      scope: 'once',
      answers: { 'Which store?': 'Redis', 'Which port?': '80' },
    },
    { id: 'def456', verdict: 'deny', reason: 'no' },
  ])
  await expect(ask({ always: true, session: true })).rejects.toMatchObject({ code: 'invalid' })
  await ask({ answer: ['a', 'b'] })
  expect(asked.at(-1)?.input).toMatchObject({ answers: { '*': 'a, b' } })
})

describe('who is here', () => {
  const self = session('abc123', { parent_session_id: '1749a2fe' })
  const sibling = session('def456', { parent_session_id: '1749a2fe' })
  const over = ended('ghi789', 5)

  test('[SM-105] siblings when there is a parent', async () => {
    const { client, asked } = recorder({
      whoAmI: [{ session: self, operator: false }],
      listChildren: [{ children: [self, sibling, over] }],
    })
    const [data] = await collect(who.run({}, world({ client, env: inside }).io))
    expect(data?.sessions).toEqual([sibling])
    expect(asked[1]?.input).toEqual({ id: '1749a2fe' })
    expect(who.exitCode?.(data as never)).toBe(0)
  })

  test('[SM-105] else the same workspace; alone is silent and exit 1', async () => {
    const root = session('abc123', { working_dir: '/w' })
    const { client, asked } = recorder({
      whoAmI: [{ session: root, operator: false }],
      listSessions: [{ sessions: [root], next: null }],
    })
    const { io, said } = world({ client, env: inside })
    const [data] = await collect(who.run({}, io))
    expect(asked[1]?.input).toEqual({ open: true, working_dir: '/w', limit: 1000 })
    expect(who.exitCode?.(data as never)).toBe(1)
    expect([who.render(data as never, {} as never, {}), said]).toEqual(['', []])
  })

  test('[SM-105][SM-107] outside of a session it is the present folder', async () => {
    const { client, asked } = recorder({ listSessions: [{ sessions: [sibling], next: null }] })
    const { io } = world({ client })
    const [data] = await collect(others.run({}, io))
    expect(data?.sessions).toEqual([sibling])
    expect(asked[0]?.input).toEqual({ open: true, working_dir: io.cwd, limit: 1000 })
  })

  test('[SM-107] alone answers by its exit code only: 0 alone, 1 others, 6 when nobody can say', async () => {
    const ask = async (answers: Record<string, unknown[]>) => {
      const { io, said } = world({ client: recorder(answers).client })
      const [data] = await collect(alone.run({}, io))
      return [alone.exitCode?.(data as never), alone.render(data as never, {} as never, {}), said]
    }
    expect(await ask({ listSessions: [{ sessions: [], next: null }] })).toEqual([0, '', []])
    expect(await ask({ listSessions: [{ sessions: [sibling], next: null }] })).toEqual([1, '', []])
    for (const code of ['timeout', 'unavailable'] as const)
      await expect(ask({ listSessions: [new AppError(code, 'slow')] })).rejects.toMatchObject({
        code: 'unavailable',
      })
  })

  test('[SM-104] me is who the daemon says, and outside of a session a refusal', async () => {
    const { client } = recorder({
      whoAmI: [
        { session: self, operator: false },
        { session: null, operator: true },
      ],
    })
    const { io } = world({ client })
    expect(await collect(me.run({}, io))).toEqual([{ session: self, operator: false }])
    await expect(collect(me.run({}, io))).rejects.toMatchObject({ code: 'invalid' })
  })

  test('[SM-109] status has the caller, its children and the others of its folder, each once', async () => {
    const child = session('child', { parent_session_id: 'abc123' })
    const { client } = recorder({
      whoAmI: [{ session: self, operator: false }],
      listChildren: [{ children: [child] }],
      listSessions: [{ sessions: [sibling, child, self], next: null }],
    })
    expect(await collect(status.run({}, world({ client, env: inside }).io))).toEqual([
      { session: self, children: [child], working_dir: '/work/app', others: [sibling] },
    ])
  })
})

test('[SM-108] all reads every page, and closed ones only when asked', async () => {
  const { client, asked } = recorder({
    listSessions: [
      { sessions: [session('c')], next: 50, hidden: 7 },
      { sessions: [session('b')], next: 20, hidden: 8 },
      { sessions: [session('a')], next: null, hidden: 8 },
    ],
  })
  const { io } = world({ client })
  const [data] = await collect(all.run({ closed: false }, io))
  expect(data?.sessions.map(({ session_id }) => session_id)).toEqual(['c', 'b', 'a'])
  expect(asked.map(({ input }) => input)).toEqual([
    { agents: true, open: true, limit: 1000 },
    { agents: true, open: true, limit: 1000, before: 50 },
    { agents: true, open: true, limit: 1000, before: 20 },
  ])
  expect(data?.hidden).toBe(7)
  await collect(all.run({ closed: true }, io))
  expect(asked.at(-1)?.input).toEqual({ agents: true, limit: 1000 })
})
