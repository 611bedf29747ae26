import { expect, test } from 'vitest'
import { type GuardAdvice, guardAnswer, guardTurn, type SeenCall, unguarded } from './loop-guards.ts'

const call = (fields: Partial<SeenCall> = {}): SeenCall => ({
  tool: 'Read',
  input: '{"file_path":"a"}',
  isMalformed: false,
  isEmptySearch: false,
  isChange: false,
  ...fields,
})

/** What the guards say of each turn. */
function advices(turns: readonly { text?: string; calls?: SeenCall[] }[]): GuardAdvice[] {
  let state = unguarded
  return turns.map(({ text = '', calls = [] }) => {
    const seen = guardTurn(state, { text, calls })
    state = seen.state
    return seen.advice
  })
}
const kinds = (turns: Parameters<typeof advices>[0]) =>
  advices(turns).map(({ nudge, stop }) => (stop ? 'stop' : nudge ? 'nudge' : 'on'))
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

test('[RUN-12] a run that gets on is left alone, however long', () => {
  const turns = times(200, (i) => ({ text: `step ${i}`, calls: [call({ input: `${i}` })] }))
  expect(new Set(kinds(turns))).toEqual(new Set(['on']))
})

test('[RUN-12] the same answer three times is told, and ends the run when that does not help', () => {
  expect(kinds(times(9, () => ({ text: 'hm', calls: [call()] })))).toEqual([
    'on',
    'on',
    'nudge',
    'on',
    'on',
    'nudge',
    'on',
    'on',
    'stop',
  ])
})

test('[RUN-12] the same call is told also when other words stand around it', () => {
  const turns = times(3, (i) => ({ text: `try ${i}`, calls: [call()] }))
  expect(kinds(turns)).toEqual(['on', 'on', 'nudge'])
  expect(advices(turns)[2]?.nudge).toContain('Read')
})

test('[RUN-12] the same tests after each change are no circle', () => {
  const change = (i: number) => ({ calls: [call({ tool: 'Edit', input: `${i}`, isChange: true })] })
  const check = (i: number) => ({ text: `now ${i}`, calls: [call({ tool: 'Bash', input: 'npm test' })] })
  const turns = times(20, (i) => [change(i), check(i)]).flat()
  expect(new Set(kinds(turns))).toEqual(new Set(['on']))
})

test('[RUN-12] four calls in a row that cannot be read end the run; a good one in between starts anew', () => {
  const bad = (i: number) => ({ calls: [call({ input: `{${i}`, isMalformed: true })] })
  expect(kinds(times(4, bad))).toEqual(['on', 'on', 'on', 'stop'])
  const good = { calls: [call({ input: 'good' })] }
  expect(kinds([...times(3, bad), good, ...times(3, (i) => bad(i + 10))])).not.toContain('stop')
})

test('[RUN-12] searches that find nothing are told of once in four', () => {
  const empty = (i: number) => ({ calls: [call({ tool: 'Grep', input: `${i}`, isEmptySearch: true })] })
  expect(kinds(times(5, empty))).toEqual(['on', 'on', 'on', 'nudge', 'on'])
})

test('[RUN-12] an empty answer is told, and ends the run when the next one is empty too', () => {
  const first = guardAnswer(unguarded, ' \n')
  expect(first.advice.nudge).toContain('empty')
  expect(guardAnswer(first.state, '').advice.stop).toContain('empty answer')
  expect(guardAnswer(first.state, 'Here.').advice).toEqual({})
  const worked = guardTurn(first.state, { text: '', calls: [call()] })
  expect(guardAnswer(worked.state, '').advice.stop).toBeUndefined()
})
