import { expect, onTestFinished, test } from 'vitest'
import { cliPath, missingCli, newestOfEach } from '../support/clis.ts'
import { campaign } from '../support/delivery/campaign.ts'
import { cliField } from '../support/delivery/cli-field.ts'
import { edgesOf } from '../support/delivery/plan.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** What `npm run campaign messages` does, in short: the sizes at which something else begins, to an agent that is idle and then busy. */
test.for(newestOfEach)(
  '[MUS-324][SM-42][SM-43][MUS-237] $name $version: messages of 1 to 50,000 characters in 1 to 400 lines arrive whole, once and in order while a person types',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const field = await cliField(tempFolder('md-'), { cli: name, version, sessions: 1, seed: 1 })
    onTestFinished(() => field.close())
    const edges = edgesOf(name)
    const messages = edges.length
    const figures = await campaign(field, {
      messages,
      seed: 1,
      kills: 0,
      personEveryMs: 8000,
      sizes: 'lengths',
      edges,
    })
    expect(figures.faults).toEqual([])
    expect(figures).toMatchObject({ messages, late: 0, lost: 0 })
    expect(figures.accepted + figures.refused.length).toBe(messages)
  },
)
