/** Looks at each part of a project for one kind of problem; what an honest attempt to refute it bears out is reported. */
export const meta = {
  name: 'audit',
  description:
    'Finds problems of one kind in a project, part by part, and keeps only what holds against a refutation',
  phases: ['discover', 'audit', 'verify'],
  tools: ['Read', 'Grep', 'Glob'],
  estimate: { agents: 30, tokens: 600_000 },
}

const parts = {
  type: 'object',
  properties: { parts: { type: 'array', items: { type: 'string' }, maxItems: 20 } },
  required: ['parts'],
}
const findings = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      maxItems: 10,
      items: {
        type: 'object',
        properties: {
          file: { type: 'string' },
          line: { type: 'integer' },
          claim: { type: 'string' },
          severity: { enum: ['critical', 'major', 'minor'] },
        },
        required: ['file', 'claim', 'severity'],
      },
    },
  },
  required: ['findings'],
}

type Finding = { file: string; line?: number; claim: string; severity: 'critical' | 'major' | 'minor' }

export default async function ({ args, agent, parallel, phase, verify, checkpoint, log }) {
  const what: string = args?.what ?? 'bugs that lose data, crash or let somebody do what they may not'
  const where: string = args?.where ?? 'the whole project'

  const found = await phase('discover', async () => {
    const said = await agent(
      `Look at how ${where} is built. Name up to 20 files or folders that are worth a closer look for: ${what}. The ones that matter most come first.`,
      { agent: 'explore', name: 'map', schema: parts },
    )
    return said.parts as string[]
  })

  const claims = await phase('audit', async () => {
    const looks = await parallel(
      found.map((part) => async () => {
        const task = `Audit ${part} for: ${what}. Report only what you saw in the code yourself, each as one claim that can be proved wrong.`
        try {
          const said = await agent(task, { agent: 'explore', name: 'audit', schema: findings })
          return said.findings as Finding[]
        } catch (error) {
          log(`${part} could not be looked at: ${error.message}`)
          return []
        }
      }),
    )
    return (looks as Finding[][]).flat().map((finding, i) => ({ id: `F${i + 1}`, ...finding }))
  })
  await checkpoint({ claims })

  const judged = await phase('verify', () =>
    verify(
      claims.map((one) => ({ ...one, claim: `${one.file}${one.line ? `:${one.line}` : ''}: ${one.claim}` })),
      { agent: 'explore', votes: args?.votes ?? 1 },
    ),
  )
  const of = (verdict: string) =>
    claims.filter(({ id }) => judged.some((one) => one.id === id && one.verdict === verdict))
  return { findings: of('supported'), unsure: of('inconclusive'), refuted: of('refuted').length }
}
