import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { EventStream, eventStreams, sessionIdOf } from '../../../test/support/events.ts'
import { runs } from '../../../test/support/size.ts'
import { applyInBatches, dump, opened, TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import { SearchHit } from '../../contract/index-rows.ts'
import { searchText } from '../../core/projections/event-text.ts'
import { openSearchQueries } from './search-queries.ts'
import { openSearch } from './search-writer.ts'

function build(events: readonly AgentEvent[], cuts: readonly number[] = []): Record<string, unknown[]> {
  using place = new TempIndex()
  const writer = place.searchWriter()
  applyInBatches(writer, events, cuts)
  writer.close()
  return dump(place.searchPath)
}

function library(): EventStream {
  const stream = new EventStream()
  const two = { sessionId: sessionIdOf(2) }
  stream.add('session.started', { name: 'login', prompt: 'Add a login page with a remember-me box' })
  stream.add('tool.call.started', { callId: 'a', tool: 'Edit', params: { file_path: 'src/login/form.ts' } })
  stream.add('tool.call.failed', { callId: 'a', tool: 'Edit', error: 'the café form has no handler' })
  stream.add(
    'tool.call.started',
    { callId: 'b', tool: 'Bash', params: { command: 'npm test -- login' } },
    two,
  )
  stream.add('tool.call.completed', { callId: 'b', tool: 'Bash', result: 'all 12 login tests passed' }, two)
  stream.add('progress.checkpoint', { message: 'handler written, tests green' }, two)
  stream.add('test.failed', { command: 'npm test', output: 'expected form to render' })
  return stream
}

function finder(): { find: (query: string, filter?: object) => number[]; done: () => void } {
  const place = new TempIndex()
  const search = place.searchQueries(library().events)
  const find = (query: string, filter: object = {}) =>
    search
      .search(query, filter)
      .map((hit) => hit.seq)
      .sort((a, b) => a - b)
  return { find, done: () => (search.close(), place[Symbol.dispose]()) }
}

test('[MUS-71] built in any batches, full text is the same word for word as built at once', () => {
  fc.assert(
    fc.property(eventStreams(), fc.array(fc.nat(), { maxLength: 8 }), (events, cuts) => {
      const whole = build(events)
      expect(build(events, cuts)).toEqual(whole)
      expect(build([...events, ...events], [events.length])).toEqual(whole)
    }),
    { ...runs(15), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-79] words, phrases and beginnings are found, without accents and case', () => {
  const { find, done } = finder()
  expect(find('login')).toEqual([1, 2, 4, 5])
  expect(find('LOGIN tests')).toEqual([5])
  expect(find('"login tests"')).toEqual([5])
  expect(find('"tests login"')).toEqual([])
  expect(find('cafe')).toEqual([3])
  expect(find('hand*')).toEqual([3, 6])
  expect(find('"form has" no')).toEqual([3])
  expect(find('"the cafe fo"*')).toEqual([3])
  expect(find('remember-me')).toEqual([1])
  expect(find('nowhere')).toEqual([])
  done()
})

test('[MUS-79] operators narrow by tool, file, status, session and type', () => {
  const { find, done } = finder()
  expect(find('tool:bash')).toEqual([4, 5])
  expect(find('login tool:Edit')).toEqual([2])
  expect(find('file:form.ts')).toEqual([2])
  expect(find('file:src/login')).toEqual([2])
  expect(find('status:error')).toEqual([3, 7])
  expect(find('status:failed form')).toEqual([3, 7])
  expect(find('status:ok login')).toEqual([5])
  expect(find(`session:${sessionIdOf(2)}`)).toEqual([4, 5, 6])
  expect(find(`login session:${shortId(sessionIdOf(2))}`)).toEqual([4, 5])
  expect(find('type:tool.call.failed')).toEqual([3])
  expect(find('type:tool login')).toEqual([2, 4, 5])
  expect(find('Type:"progress.checkpoint"')).toEqual([6])
  expect(find('login', { sessionId: sessionIdOf(2), type: 'tool.call.completed' })).toEqual([5])
  done()
})

test('[MUS-79] what is no syntax of ours is taken as words', () => {
  const { find, done } = finder()
  expect(find('"login tests')).toEqual([5])
  expect(find('login AND')).toEqual([])
  expect(find('nothing:login')).toEqual([])
  expect(find('tool:')).toEqual([])
  expect(find('NEAR(login tests)')).toEqual([])
  expect(find('form ) OR (')).toEqual([])
  expect(find('form ) ( * " - ^')).toEqual([2, 3, 7])
  expect(find('')).toEqual([])
  expect(find('* "" ()', { sessionId: sessionIdOf(1) })).toEqual([])
  done()
})

test('[MUS-79] no query throws, whatever it holds, and every hit fits its schema', () => {
  using place = new TempIndex()
  using search = place.searchQueries(library().events)
  const piece = fc.oneof(
    fc.constantFrom(
      'login',
      '"',
      '""',
      '*',
      ':',
      '(',
      ')',
      '{',
      '}',
      '^',
      '-',
      '+',
      ',',
      '\\',
      "'",
      ';',
      '\0',
      ' ',
    ),
    fc.constantFrom(
      'AND',
      'OR',
      'NOT',
      'NEAR',
      'tool:',
      'file:',
      'status:',
      'session:',
      'type:',
      'title:',
      '\ud800',
    ),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const query = fc.array(piece, { maxLength: 30, size: 'max' }).map((parts) => parts.join(''))
  const narrowing = fc.record({ sessionId: piece, type: piece }, { requiredKeys: [] })
  fc.assert(
    fc.property(
      query,
      narrowing,
      fc.constantFrom('best' as const, 'newest' as const),
      (text, filter, order) => {
        z.array(SearchHit).parse(search.search(text, { ...filter, order }))
      },
    ),
    runs(2000),
  )
  expect(search.search('login '.repeat(5000)).length).toBeGreaterThan(0)
})

test('[MUS-79] a hit says where it was found, with its words marked and nothing else', () => {
  using place = new TempIndex()
  const stream = library()
  stream.add('progress.checkpoint', { message: 'a \u0001false\u0002 <b>login</b>' })
  using search = place.searchQueries(stream.events)
  const [best] = search.search('remember box')
  expect(best).toMatchObject({
    seq: 1,
    sessionId: sessionIdOf(1),
    type: 'session.started',
    tool: null,
    status: null,
  })
  expect(best?.snippet.filter((part) => part.isHit).map((part) => part.text)).toEqual(['remember', 'box'])
  expect(best?.snippet.map((part) => part.text).join('')).toContain('remember-me box')
  expect(search.search('false')).toMatchObject([
    {
      title: [
        { text: 'a  ', isHit: false },
        { text: 'false', isHit: true },
        { text: '  <b>login</b>', isHit: false },
      ],
    },
  ])
})

test('[MUS-79] the best comes first, or the newest; limits hold', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  const filler = 'one two three four five six seven eight nine ten '.repeat(10)
  stream.add('progress.checkpoint', { message: 'needle' })
  for (let i = 0; i < 5; i++)
    stream.add('tool.call.completed', { callId: 'c', tool: 'T', result: `${filler}needle` })
  using search = place.searchQueries(stream.events)
  expect(search.search('needle', { limit: 2 })[0]?.seq).toBe(1)
  expect(search.search('needle', { limit: 2, order: 'newest' }).map((hit) => hit.seq)).toEqual([6, 5])
  expect(search.search('needle', { limit: 3 })).toHaveLength(3)
})

test('[MUS-73] search has its own file and cursor', () => {
  using place = new TempIndex()
  const events = library().events
  const writer = place.searchWriter()
  writer.apply(events.slice(0, 3))
  expect(writer.position()).toEqual({ seq: 3, id: events[2]?.id })
  writer.close()
  const again = openSearch(place.searchPath, searchText)
  expect(again).toMatchObject({ ok: true, isEmpty: false })
  expect(opened(again).position().seq).toBe(3)
  opened(again).close()
  expect(openSearch(place.searchPath, searchText, 2)).toMatchObject({ ok: true, isEmpty: true })
})

test('[MUS-74] an event without words it can read is parked and the next ones are found', () => {
  using place = new TempIndex()
  const writer = place.searchWriter((event) => {
    if (event.seq === 2) throw new Error('unreadable')
    return searchText(event)
  })
  expect(writer.apply(library().events)).toMatchObject({
    applied: 6,
    parked: [{ seq: 2, error: 'unreadable' }],
  })
  writer.close()
  expect(dump(place.searchPath)['parked']).toMatchObject([{ seq: 2, follower: 'search' }])
  const search = openSearchQueries(place.searchPath)
  expect(search.search('green')).toHaveLength(1)
  expect(search.position().seq).toBe(7)
  search.close()
})

test('[MUS-39] an erased event is not found and its words are gone from the file', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('progress.checkpoint', { message: 'the zanzibarium password' })
  stream.add('progress.checkpoint', { message: 'another note' })
  const erased = stream.add('journal.erased', { seqs: [1, 99], reason: 'missed', by: 'operator' })
  const writer = place.searchWriter()
  writer.apply(stream.events.slice(0, 2))
  writer.apply([erased])
  const bytes = [place.searchPath, `${place.searchPath}-wal`]
    .map((path) => readFileSync(path, 'latin1'))
    .join('')
  writer.close()
  expect(bytes).toContain('another')
  expect(bytes).not.toContain('zanzibarium')
  using search = place.searchQueries([])
  expect(search.search('password')).toEqual([])
  expect(search.search('note')).toHaveLength(1)
})

test('[MUS-70] full text that is not there yet is refused with what to do', () => {
  using place = new TempIndex()
  expect(() => openSearchQueries(place.searchPath)).toThrow(expect.objectContaining({ code: 'unavailable' }))
})

/** Sentences in scripts without spaces, and names of code, each with the seq of its event. */
function foreignLibrary(): EventStream {
  const stream = new EventStream()
  const said = [
    '请修复登录页面的错误处理',
    'ログイン画面のエラーを修正してください。パスワードreset機能',
    '로그인 페이지의 오류를 수정해 주세요',
    'แก้ไขข้อผิดพลาดในหน้าเข้าสู่ระบบ',
    'parseCommandLine calls read_input-file and HTTPServer.listenOn',
  ]
  for (const message of said) stream.add('progress.checkpoint', { message })
  return stream
}

test('[MUS-382] any two characters of a script without spaces find their text, and parts find names of code', () => {
  using place = new TempIndex()
  const { events } = foreignLibrary()
  const search = place.searchQueries(events)
  const find = (query: string) => search.search(query).map(({ seq }) => seq)
  for (const { seq, payload } of events.slice(0, 4)) {
    const letters = Array.from((payload as { message: string }).message.normalize('NFKC'))
    const pairs = letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
    const dense = pairs.filter((pair) =>
      /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}][\p{Lo}\p{M}ー]$/u.test(
        pair,
      ),
    )
    expect(dense.length).toBeGreaterThan(5)
    for (const pair of dense) expect({ pair, found: find(pair).includes(seq) }).toEqual({ pair, found: true })
  }
  const [chinese, japanese, korean, thai, code] = events.map(({ seq }) => seq)
  expect(find('登录页面')).toEqual([chinese])
  expect(find('录登')).toEqual([])
  expect(find('误请')).toEqual([])
  expect(find('エラー 修正')).toEqual([japanese])
  expect(find('reset')).toEqual([japanese])
  expect(find('오류')).toEqual([korean])
  expect(find('ผิดพลาด')).toEqual([thai])
  expect(find('误')).toEqual([chinese])
  for (const query of [
    'command',
    'commandLine',
    'command-line',
    'parse_command',
    'ParseCommandLine',
    'server',
    'http',
    'input',
    'read_input',
    'listen',
  ])
    expect({ query, found: find(query) }).toEqual({ query, found: [code] })
  expect(find('lineCommand')).toEqual([])
  const [hit] = search.search('错误')
  expect([...(hit?.title ?? []), ...(hit?.snippet ?? [])]).toContainEqual({ text: '错误', isHit: true })
  search.close()
})

test('[MUS-382] what was erased is not found by a part of it either', () => {
  using place = new TempIndex()
  const { events } = foreignLibrary()
  const last = events.at(-1) as AgentEvent
  const stream = new EventStream()
  for (const event of events) stream.add(event.type, event.payload as never)
  stream.add('journal.erased', { seqs: [1, last.seq], reason: 'missed', by: 'operator' })
  const search = place.searchQueries(stream.events)
  expect(search.search('登录')).toEqual([])
  expect(search.search('command')).toEqual([])
  expect(search.search('오류')).toHaveLength(1)
  search.close()
})
