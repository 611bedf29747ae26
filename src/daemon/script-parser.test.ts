import { expect, onTestFinished, test } from 'vitest'
import { scriptParser } from './script-parser.ts'

const meta = `export const meta = { name: 'a', description: 'what it does', phases: [] }\n`
const script = `${meta}export default () => 1`

test('[MUS-292] a text that breaks the parser or keeps it busy is refused, and the next one is parsed', async () => {
  const parser = scriptParser()
  const { parse } = parser
  onTestFinished(() => parser.close())
  const hostile = ['[', 'a+', '{', '(<a>(', 'a?b:', 'async<a>(', 'if(a){', '`${']
  for (const piece of hostile) {
    await expect(parse('a.ts', meta + piece.repeat(40_000), true), piece).rejects.toMatchObject({
      code: 'invalid',
    })
    expect(await parse('a.ts', script, true)).toMatchObject({ meta: { name: 'a' }, imports: [] })
  }
  const busy = scriptParser(0)
  onTestFinished(() => busy.close())
  await expect(busy.parse('a.ts', script, true)).rejects.toThrow('a.ts takes too long to parse')
})
