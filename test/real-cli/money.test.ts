import { expect, test } from 'vitest'
import listPrices from '../../src/contract/list-prices.json' with { type: 'json' }
import { PriceBook } from '../../src/core/ledger/price-book.ts'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import type { CliName } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

const prices = new PriceBook(listPrices)
/** Models that the scripted one is called by, each with a price on the list. */
const models: Readonly<Record<CliName, string>> = {
  claude: 'claude-sonnet-4-5',
  codex: 'gpt-5.1-codex',
  opencode: 'gpt-4o',
  gemini: 'gemini-2.5-pro',
  pi: 'gpt-4o',
}

/** So many tokens of prompt cost so many dollars. */
const worth = (cli: CliName, usd: number) => {
  const million = prices.estimate(models[cli], { input: 1000 })?.costUsd ?? Number.NaN
  return { input: Math.round((usd / million) * 1000), output: 1 }
}

test.for(clis)(
  '[MUS-330][MUS-332][MUS-239] $name $version: a budget of five cents is warned of, used up and kept, and goes on when it is raised',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, {
      version,
      config: 'child_agents: { mode: manual }\n',
      model: 'gpt-4o',
    })
    const say = (text: string, usd: number) =>
      scripted([{ text, usage: worth(name, usd) }], `Please say "${text}".`)
    const session = await m.spawn(say('first', 0.042), {
      budget: { usd: 0.05 },
      ...(name === 'claude' && { model: models.claude }),
    })
    const id = session.session_id
    const told = async (type: string) =>
      (await m.client.listEvents({ session: session.id, type, limit: 100, after: 0 })).events.map(
        ({ payload }) => payload as { budget: string; used: number; limit: number; detail?: string },
      )
    const [warned] = await eventually(
      () => told('budget.warning'),
      (events) => events.length > 0,
    )
    // Some call their model for themselves, too, and pay for it.
    expect(warned).toMatchObject({ budget: 'usd', limit: 0.05 })
    expect(warned?.used).toBeGreaterThanOrEqual(0.042)
    expect(warned?.used).toBeLessThan(0.05)
    expect(await told('budget.exceeded')).toEqual([])

    await m.client.sendMessage({ id, text: say('second', 0.02) })
    const [exceeded] = await eventually(
      () => told('budget.exceeded'),
      (events) => events.length > 0,
    )
    expect(exceeded).toMatchObject({ budget: 'usd', limit: 0.05 })
    const cost = (await m.client.getSession({ id })).cost_usd ?? 0
    expect(cost).toBeGreaterThanOrEqual(0.062)
    expect(cost).toBeLessThan(0.07)
    const { message_id: message } = await m.client.sendMessage({ id, text: say('third', 0.001) })
    await eventually(
      () => m.client.getMessage({ message }),
      ({ detail }) => detail?.includes('is used up') === true,
    )
    expect(m.model.requests().filter(({ script }) => script?.includes('third'))).toEqual([])
    expect((await m.sm('budget', id, '1usd')).code).toBe(0)
    await eventually(
      () => m.client.getMessage({ message }),
      ({ state }) => state === 'accepted',
    )
    expect(await told('budget.exceeded')).toHaveLength(1)
  },
)

test.for(clis.filter(({ name }) => name === 'opencode' || name === 'pi'))(
  '[MUS-330] $name $version: of a model without a price it is said once that its money is not counted, and nothing is made up',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const session = await m.spawn(scripted([{ text: 'One.' }], 'Begin.'), { budget: { usd: 0.5 } })
    const id = session.session_id
    const warnings = async () =>
      (
        await m.client.listEvents({ session: session.id, type: 'budget.warning', limit: 100, after: 0 })
      ).events.map(({ payload }) => (payload as { detail?: string }).detail)
    await eventually(warnings, (found) => found.length > 0)
    const { message_id: message } = await m.client.sendMessage({
      id,
      text: scripted([{ text: 'Two.' }], 'Again.'),
    })
    await eventually(
      () => m.client.getMessage({ message }),
      ({ state }) => state === 'accepted',
    )
    await eventually(
      () => m.client.getTranscript({ id }),
      ({ entries }) => name === 'opencode' || entries.some(({ text }) => text === 'Two.'),
    )
    await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle',
    )
    expect(await warnings()).toEqual([expect.stringContaining('no price is known for scripted')])
    expect(await m.client.getSession({ id })).toMatchObject({
      cost_usd: null,
      cost_basis: 'no price is known for scripted',
    })
  },
)
