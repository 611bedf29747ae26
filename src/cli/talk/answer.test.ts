import { expect, test } from 'vitest'
import { Answer, restOf } from './answer.ts'
import type { Heard } from './heard.ts'

const words = (text: string, isDone = false, runId = 'r'): Heard => ({
  kind: 'words',
  runId,
  agent: 'a',
  text,
  isDone,
  isLossy: false,
})
const said = (text: string, runId = 'r'): Heard => ({ kind: 'said', runId, from: 'a', to: 'user', text })

/** What an answer prints of what is heard after its message was taken. */
function printed(...heard: readonly Heard[]): { out: string; text: string } {
  const answer = new Answer()
  const out = [{ kind: 'taken', runId: 'r', messageId: 'm' } as const, ...heard].map(
    (one) => answer.hear(one).out ?? '',
  )
  return { out: out.join('') + answer.lineEnd(), text: answer.text }
}

test('[MUS-271] each turn ends its line, and the last words are the text', () => {
  expect(printed(words('I look'), words('.', true), words('Done.', true), said('Done.'))).toEqual({
    out: 'I look.\nDone.\n',
    text: 'Done.',
  })
})

test('[MUS-271] the words of another run are not part of it', () => {
  expect(printed(words('child', true, 'c'), said('child', 'c'), words('ours', true)).out).toBe('ours\n')
})

test('[MUS-271] what was not heard comes with the final text, whole when there are holes', () => {
  expect(printed(words('It is '), said('It is 42.'))).toEqual({ out: 'It is 42.\n', text: 'It is 42.' })
  expect(printed(said('All of it.'))).toEqual({ out: 'All of it.\n', text: 'All of it.' })
  expect(printed(words('is 42', true), said('It is 42.')).out).toBe('is 42\n\n\nIt is 42.\n')
})

test('[MUS-271] a final text that is only the beginning of a long one adds nothing', () => {
  expect(printed(words('very long', true), said('very'))).toEqual({ out: 'very long\n', text: 'very long' })
  expect(restOf('', '')).toBe('')
})

test('[MUS-271] an answer that breaks off ends its line', () => {
  expect(printed(words('half')).out).toBe('half\n')
})

test('[MUS-271] a call is one row when it has ended, with what it was called on', () => {
  const answer = new Answer()
  const call = { kind: 'tool', runId: 'r', agent: 'a', callId: 'c', tool: 'Read' } as const
  expect(answer.hear({ ...call, target: 'a.ts' })).toEqual({})
  expect(answer.hear({ ...call, result: 'completed', durationMs: 3 }).row).toMatchObject({
    target: 'a.ts',
    durationMs: 3,
  })
})
