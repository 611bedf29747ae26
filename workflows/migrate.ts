/** Makes the same change in many files: each by an agent that may change that file alone, each looked at by another. */
export const meta = {
  name: 'migrate',
  description: 'Makes one change in every file that needs it, file by file, and checks each one',
  phases: ['discover', 'migrate'],
  tools: ['Read', 'Grep', 'Glob', 'Edit'],
  writes: ['**'],
  estimate: { agents: 60, tokens: 1_500_000 },
}

const files = {
  type: 'object',
  properties: { files: { type: 'array', items: { type: 'string' }, maxItems: 200 } },
  required: ['files'],
}
const review = {
  type: 'object',
  properties: { isDone: { type: 'boolean' }, problems: { type: 'array', items: { type: 'string' } } },
  required: ['isDone', 'problems'],
}

export default async function ({ args, agent, approve, phase, pipeline, log }) {
  const change: string | undefined = args?.change
  if (!change) throw new Error('say what to change: { "change": "…" }')

  const found: string[] = await phase('discover', async () => {
    if (Array.isArray(args.files)) return args.files
    const said = await agent(
      `Name every file that needs this change, by its path in the project: ${change}`,
      {
        agent: 'explore',
        name: 'find',
        schema: files,
      },
    )
    return said.files
  })
  const { approved } = await approve(`Change ${found.length} files?\n${found.join('\n')}`)
  if (!approved) return { changed: [], left: found }

  const ended = await phase('migrate', () =>
    pipeline(
      found,
      async (file) => {
        await agent(`In ${file}, and nowhere else: ${change}`, {
          agent: 'developer',
          name: 'change',
          scope: [file],
        })
        return file
      },
      async (file) => {
        const task = `Somebody was asked to do this in ${file}: ${change}\nRead the file as it is now. Is it done, whole and right?`
        const said = await agent(task, { agent: 'explore', name: 'review', schema: review })
        if (said.isDone) return { file, problems: [] }
        log(`${file} once more: ${said.problems.join('; ')}`)
        await agent(
          `In ${file}, and nowhere else, fix this: ${said.problems.join('; ')}\nIt was meant to be: ${change}`,
          {
            agent: 'developer',
            name: 'fix',
            scope: [file],
          },
        )
        const last = await agent(task, { agent: 'explore', name: 'review', schema: review })
        return { file, problems: last.isDone ? [] : last.problems }
      },
    ).catch((error) => {
      log(error.message)
      return error.results.map((one, i) => one ?? { file: found[i], problems: ['an agent failed'] })
    }),
  )
  return {
    changed: ended.filter(({ problems }) => problems.length === 0).map(({ file }) => file),
    left: ended.filter(({ problems }) => problems.length > 0),
  }
}
