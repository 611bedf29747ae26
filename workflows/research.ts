/** Answers a question from several sides, and says only what held when somebody tried to refute it. */
export const meta = {
  name: 'research',
  description: 'Looks into a question from several sides at once, tests each claim, and writes one answer',
  phases: ['plan', 'search', 'verify', 'write'],
  tools: ['WebSearch', 'WebFetch', 'Read', 'Grep', 'Glob'],
  estimate: { agents: 25, tokens: 500_000 },
}

const angles = {
  type: 'object',
  properties: { angles: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 6 } },
  required: ['angles'],
}
const claims = {
  type: 'object',
  properties: {
    claims: {
      type: 'array',
      maxItems: 6,
      items: {
        type: 'object',
        properties: { claim: { type: 'string' }, source: { type: 'string' } },
        required: ['claim', 'source'],
      },
    },
  },
  required: ['claims'],
}

type Claim = { claim: string; source: string }

export default async function ({ args, agent, parallel, phase, verify }) {
  const question: string | undefined = typeof args === 'string' ? args : args?.question
  if (!question) throw new Error('ask something: { "question": "…" }')

  const sides: string[] = await phase('plan', async () => {
    const task = `Somebody wants to know: ${question}\nName up to six different angles to look into; together they should settle it.`
    return (await agent(task, { name: 'plan', schema: angles })).angles
  })
  const found: Claim[] = await phase('search', async () => {
    const task = (side: string) =>
      `Question: ${question}\nLook into this side of it alone: ${side}\nGive what you found as single claims, each with the source that it can be checked by.`
    const all = await parallel(
      sides.map(
        (side) => async () =>
          (await agent(task(side), { agent: 'search', name: 'search', schema: claims })).claims,
      ),
    )
    return all.flat()
  })
  const judged = await phase('verify', () =>
    verify(
      found.map(({ claim, source }) => ({ claim, evidence: source })),
      { agent: 'search', votes: args?.votes ?? 1 },
    ),
  )
  const kept = found.filter((_, i) => judged[i].verdict === 'supported')
  const answer = await phase('write', () =>
    agent(
      `Answer this question in Markdown, from these claims alone, with their sources. Say what they leave open.\n\nQuestion: ${question}\n\nClaims:\n${kept.map(({ claim, source }) => `- ${claim} (${source})`).join('\n') || '- none held'}`,
      { name: 'write' },
    ),
  )
  return { answer, claims: kept, dropped: found.length - kept.length }
}
