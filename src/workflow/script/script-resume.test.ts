import { expect, test } from 'vitest'
import type { DurableBed } from '../../../test/suites/durable.ts'
import { openScriptBed, personAt, scriptInput } from '../../../test/support/script-bed.ts'
import { sized } from '../../../test/support/size.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import { sha256 } from '../../contract/sha256.ts'

const nap = (ms: number) => systemClock.sleep(ms, new AbortController().signal)

const text = `
  const found = await phase('find', () => parallel(args.map((word, i) => async () => {
    const first = await agent('first ' + word)
    return first + await agent('second ' + word)
  })))
  const [judged] = await verify(found.slice(0, 1))
  const said = await approve('Go on?')
  log('told once')
  const kept = await checkpoint({ found, random: Math.random(), now: Date.now() > 1e12, id: crypto.randomUUID() })
  const ends = await pipeline(found, (one) => agent('end ' + one), (one) => one.length)
  return { judged: judged.verdict, said, kept, ends }`

const input = () =>
  scriptInput(text, {
    args: ['x', 'y'],
    meta: { name: 'a', description: 'what it does', phases: ['find'] },
    limits: { concurrency: 2, agents: 100, tokens: 1000 },
    approvedBy: undefined,
  })

const resumedOf = async (bed: DurableBed) =>
  (await bed.events()).flatMap((event) =>
    event.type === 'workflow.checkpoint.resumed' ? [event.payload] : [],
  )

test('[MUS-279] [MUS-172] [OBS-44] [OBS-45] killed at any write a script comes to the same end, and no agent that was written is asked again', async () => {
  let expected: unknown
  for (let n = 0, isOver = false; !isOver; n += n === 0 ? 1 : sized(1, 7)) {
    // Another one ends first each time, so what is asked comes in another order.
    const { bed, asked, run } = await openScriptBed(async ({ prompt }) => {
      await nap((sha256(`${prompt} ${n}`)[0] ?? 0) / 25)
      return prompt.includes('refute') ? '{"verdict":"supported","evidence":"seen"}' : `<${prompt}>`
    })
    using person = personAt(bed, () => ({ verdict: 'allow', scope: 'once' }))
    if (n > 0) bed.failFrom(n)
    const first = await Promise.race([run(input()), person.failed]).catch(() => undefined)
    if (n === 0) {
      expected = first
      expect(first).toMatchObject({ judged: 'supported', said: { approved: true }, ends: [25, 25] })
      continue
    }
    // What could not write its end has none, whatever it gave.
    isOver = first !== undefined && (await bed.events()).some(({ type }) => type === 'workflow.finalized')
    const written = new Set(
      (await bed.events()).flatMap((event) =>
        event.type === 'workflow.checkpoint.saved' ? [derivedSpan(`w ${event.payload.step}`)] : [],
      ),
    )
    const before = asked.length
    if (!isOver) await bed.crash()
    using _second = personAt(bed, () => ({ verdict: 'allow', scope: 'once' }))
    const second = await run(input())
    expect(second, `killed at write ${n}`).toEqual(expected)
    expect(asked.slice(before).filter(({ spanId }) => written.has(spanId))).toEqual([])
    const count = async (type: string) => (await bed.events()).filter((event) => event.type === type).length
    for (const type of [
      'workflow.created',
      'workflow.approved',
      'workflow.phase.started',
      'workflow.phase.completed',
      'claim.verified',
      'progress.checkpoint',
      'workflow.finalized',
    ])
      expect(await count(type), `${type}, killed at write ${n}`).toBe(1)
    if (!isOver && written.size > 0)
      expect(await resumedOf(bed)).toEqual([
        {
          workflowId: 'w',
          phase: expect.any(String),
          resumedAt: expect.stringMatching(/^2/),
          checkpointId: expect.any(String),
        },
      ])
    const [end] = (await bed.events()).flatMap((event) =>
      event.type === 'workflow.finalized' ? [event.payload] : [],
    )
    expect(end).toMatchObject({ totalTokens: 70, totalAgents: 7 })
  }
})

test('[MUS-279] a script whose calls come in another order by hand is told so, and asks nobody in vain', async () => {
  let isSlow = 'a'
  const { bed, asked, run } = await openScriptBed(async ({ prompt }) => {
    if (prompt.startsWith(isSlow)) await nap(60)
    if (prompt === 'last') await nap(100_000)
    return prompt
  })
  const byHand = scriptInput(`
    await Promise.all(['a', 'b'].map(async (word) => { await agent(word + '1'); await agent(word + '2') }))
    return agent('last')`)
  run(byHand).catch(() => {})
  while (asked.length < 5) await nap(5)
  await bed.crash()
  isSlow = 'none'
  const before = asked.length
  await expect(run(byHand)).rejects.toThrow(/a\.ts:3: it asks for something else at agent#[34].*parallel/)
  expect(asked.slice(before).map(({ prompt }) => prompt)).toEqual([])
})
