import { expect, test } from 'vitest'
import { put, repository, runGit } from '../support/git-repository.ts'
import { sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { ids } from '../support/temp-engine.ts'

const usual = shared(() => sessionDaemon())

const refsOf = (folder: string): string[] =>
  runGit(folder, 'for-each-ref', '--format=%(refname:lstrip=3) %(objectname)', 'refs/muster')
    .split('\n')
    .filter((line) => line !== '')

test('[MUS-284][MUS-233] three milestones at once are three numbers, three refs and three answers', async () => {
  const m = await usual()
  const folder = repository()
  const session = await m.spawnShell({ working_dir: folder })
  const id = session.session_id
  const at = (n: number) => m.client.addCheckpoint({ id, message: `step ${n}` })
  const answers = await Promise.all([at(0), at(1), at(2)])
  const byNumber = answers.toSorted((a, b) => a.number - b.number)
  expect(byNumber.map(({ number }) => number)).toEqual([1, 2, 3])
  expect(answers.map(({ message }) => message)).toEqual(['step 0', 'step 1', 'step 2'])
  expect(refsOf(folder)).toEqual(byNumber.map(({ number, commit }) => `${number} ${commit}`))
  const { checkpoints } = await m.client.listCheckpoints({ id })
  expect(checkpoints).toEqual(byNumber)

  // One that another tool reports in between takes a number too, and no ref.
  await report(m, session.id, ['from outside'])
  put(folder, { 'new.txt': 'new\n' })
  const last = await at(4)
  expect(last).toMatchObject({ number: 5, message: 'step 4' })
  expect(refsOf(folder).map((line) => line.split(' ')[0])).toEqual(['1', '2', '3', '5'])
  const { files } = await m.client.diffCheckpoints({ id, from: 1, to: 5 })
  expect(files).toMatchObject([{ path: 'new.txt', change: 'created' }])
})

test('[MUS-284] numbers go on after a thousand, and after a restart', async () => {
  const m = await usual()
  const session = await m.spawnShell({ working_dir: m.home })
  const id = session.session_id
  await report(
    m,
    session.id,
    Array.from({ length: 1200 }, (_, i) => `step ${i + 1}`),
  )
  expect(await m.client.addCheckpoint({ id, message: 'next' })).toMatchObject({
    number: 1201,
    message: 'next',
  })
  const { checkpoints } = await m.client.listCheckpoints({ id })
  expect(checkpoints.map(({ number }) => number)).toEqual(Array.from({ length: 1201 }, (_, i) => i + 1))
  await m.restart()
  expect(await m.client.addCheckpoint({ id, message: 'after' })).toMatchObject({ number: 1202 })
})

/** Milestones as another tool sends them, by the journal's own route. */
async function report(
  m: Awaited<ReturnType<typeof sessionDaemon>>,
  sessionId: string,
  messages: readonly string[],
): Promise<void> {
  const { events } = await m.client.listEvents({ session: sessionId, type: 'session.started', limit: 1 })
  const [started] = events
  if (!started) throw new Error('the session has no start')
  const { traceId, runId, spanId } = started
  const { results } = await m.client.appendEvents({
    events: messages.map((message) => ({
      sessionId,
      traceId,
      runId,
      spanId: ids.span(),
      parentSpanId: spanId,
      actor: 'tool',
      type: 'progress.checkpoint',
      payload: { message },
    })),
  })
  expect(results.every(({ status }) => status === 'appended')).toBe(true)
}
