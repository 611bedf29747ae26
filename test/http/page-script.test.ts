import { expect, test } from 'vitest'
import { FakeEventSource, fakePage } from './fake-page.ts'
import { settle } from './open-sse.ts'
import { sampleEvent } from './sample-events.ts'

const types = ['agent.idle', 'test.passed', 'session.started']
const event = (seq: number, type = 'agent.idle') => ({ seq, ...sampleEvent(type as 'agent.idle') })

let isDown = false
let backlog = [event(1), event(2, 'test.passed')]
const asked: string[] = []
const page = fakePage(types, (path) => {
  asked.push(path)
  if (isDown) throw new TypeError('fetch failed')
  if (path.startsWith('/api/v1/events'))
    return Response.json({ events: backlog, oldest: 1, seq: backlog.at(-1)?.seq ?? 0 })
  if (path.startsWith('/api/v1/health')) return Response.json({ version: '0.1.0', journal: 'ok' })
  return Response.json({ sessions: [{ shortId: 'abcd1234', title: '<b>bold</b>', lifecycle: 'running' }] })
})
const rows = () => page.byId('rows').children.map((row) => row.textContent)
const stream = () => FakeEventSource.opened.at(-1) as FakeEventSource
const state = () => page.byId('state').dataset['state']

// One page, one story: the script keeps its state as a browser's tab does.
test('[MUS-198] the page from its first moment to a restart of the daemon', async () => {
  await import(new URL('../../src/http/page/feed.js', import.meta.url).href)
  await settle()

  // It shows what there is, then goes on exactly after it.
  expect(rows()).toHaveLength(2)
  expect(page.byId('empty').hidden).toBe(true)
  expect(stream().url).toBe('/api/v1/events/stream?after=2')
  stream().open()
  await settle()
  expect([state(), page.byId('health').textContent]).toEqual(['live', '0.1.0 · journal ok'])
  expect(page.byId('sessions').children[0]?.textContent).toContain('<b>bold</b>')

  stream().send(event(2, 'test.passed'))
  stream().send(event(3))
  await settle()
  expect(rows()).toHaveLength(3)
  expect([
    page.byId('shown').textContent,
    page.byId('received').textContent,
    page.byId('seq').textContent,
  ]).toEqual(['3', '3', '3'])

  // The keyboard: / goes to the filter, p pauses, and neither while one is writing.
  page.key('/')
  expect(page.byId('filter').isFocused).toBe(true)
  page.key('p', page.byId('filter'))
  expect(page.byId('pause').attributes['aria-pressed']).toBeUndefined()
  page.key('p')
  stream().send(event(4))
  await settle()
  expect([rows().length, page.byId('pause-text').textContent]).toEqual([3, 'Resume (1 waiting)'])
  page.key('p')
  expect([rows().length, page.byId('pause-text').textContent]).toEqual([4, 'Pause'])

  page.byId('filter').value = 'test.passed'
  page.byId('filter').fire('input')
  expect(rows()).toHaveLength(1)
  page.key('Escape', page.byId('filter'))
  expect(rows()).toHaveLength(4)

  // The rows are bounded whatever comes.
  for (let seq = 5; seq <= 2000; seq++) stream().send(event(seq))
  await settle()
  expect(rows()).toHaveLength(500)

  // A cut is the browser's to mend; the page only says so.
  stream().fail(0)
  expect(state()).toBe('reconnecting')
  stream().open()
  expect(state()).toBe('live')

  // A refusal is not: the page comes back by itself, and goes on where it was.
  isDown = true
  stream().fail(2)
  await settle()
  expect([state(), page.byId('state-text').textContent]).toEqual(['failed', expect.stringContaining('sm up')])
  isDown = false
  backlog = [event(2001)]
  page.tick()
  await settle()
  expect(asked.filter((path) => path.includes('after=2000'))).toHaveLength(1)
  expect(stream().url).toBe('/api/v1/events/stream?after=2001')
  stream().open()

  // Something missed is said, and another journal starts over.
  stream().fire('resync', { data: JSON.stringify({ reason: 'too_old', seq: 9000 }) })
  expect(rows().at(-1)).toContain('missed')
  stream().fire('resync', { data: JSON.stringify({ reason: 'unknown_id', seq: 1 }) })
  stream().send(event(2))
  await settle()
  expect(rows()).toHaveLength(2)

  page.byId('clear').fire('click')
  expect([rows().length, page.byId('empty').hidden]).toEqual([0, false])
})
