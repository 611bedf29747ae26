import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seeded } from '../support/random.ts'
import { accuracyPage, judgeAll } from './accuracy-page.ts'
import { Agent } from './agent.ts'
import { type CorpusCase, isHeldOut } from './corpus-case.ts'
import { hand } from './hand/hand.ts'
import { label } from './label.ts'
import type { Profile } from './profiles.ts'
import { recorded } from './recorded/recorded.ts'
import type { Scenario } from './scenario.ts'
import { asks } from './scenarios/asks.ts'
import { background } from './scenarios/background.ts'
import { completions } from './scenarios/completions.ts'
import { conversations } from './scenarios/conversations.ts'
import { failures } from './scenarios/failures.ts'
import { interrupts } from './scenarios/interrupts.ts'
import { turns } from './scenarios/turns.ts'
import { inOrder, type Variation, variations } from './vary.ts'
import type { Probe, Sent } from './world.ts'

export const folder = join(import.meta.dirname, 'state')
export const pageFile = join(import.meta.dirname, '../../docs/state-accuracy.md')

const books = { asks, background, completions, conversations, failures, interrupts, turns }

/** The whole corpus by file name: the same on every machine and every run. */
export function corpus(): Readonly<Record<string, readonly CorpusCase[]>> {
  const told = Object.entries(books).map(([book, scenarios]) => [book, scenarios.flatMap(casesOf)] as const)
  return Object.fromEntries([...told, ['hand', hand], ['recorded', recorded]])
}

/** A file of it: a case a line. */
export const asLines = (cases: readonly CorpusCase[]): string =>
  cases.map((one) => `${JSON.stringify(one)}\n`).join('')

// Each further variation of a probe tells less. What a text means does not hang on how it came.
function perProbe({ name }: Scenario, profile: Profile, probe: Probe): number {
  const isText = /^(?:said|reported|open)-/.test(name)
  if (isText) return Number(probe.name === 'later' && seedOf(name) % 3 === 0)
  return profile.version === '2.1.325' ? 3 : 1
}

function casesOf(scenario: Scenario): readonly CorpusCase[] {
  return scenario.profiles.flatMap((profile) => {
    const agent = new Agent(profile)
    scenario.run(agent)
    return agent.probes.flatMap((probe) => {
      const name = `${scenario.name}/${profile.cli}-${profile.version}/${probe.name}`
      const random = seeded(seedOf(name))
      const base = inOrder.arrive(probe, random)
      const different = variations
        .map((variation) => ({ variation, kept: variation.arrive(probe, random) }))
        .filter(({ kept }) => !isSame(kept, base))
      const chosen = new Set<{ variation: Variation; kept: readonly Sent[] }>()
      while (chosen.size < Math.min(perProbe(scenario, profile, probe), different.length)) {
        const one = different[Math.floor(random() * different.length)]
        if (one) chosen.add(one)
      }
      return [{ variation: inOrder, kept: base }, ...chosen].map(({ variation, kept }) =>
        caseOf({ name: `${name}/${variation.name}`, profile, probe, kept, base }),
      )
    })
  })
}

type Making = {
  readonly name: string
  readonly profile: Profile
  readonly probe: Probe
  readonly kept: readonly Sent[]
  readonly base: readonly Sent[]
}

function caseOf({ name, profile, probe, kept, base }: Making): CorpusCase {
  const ids = new Set(kept.map(({ id }) => id))
  return {
    name,
    cli: profile.cli,
    version: profile.version,
    signals: kept.map(({ signal }) => signal),
    now: probe.now,
    ...(probe.config && { config: probe.config }),
    ...label(probe, kept),
    ...(base.some(({ id }) => !ids.has(id)) && { isLossy: true as const }),
    heldOut: isHeldOut(name),
  }
}

const isSame = (a: readonly Sent[], b: readonly Sent[]): boolean =>
  a.length === b.length && a.every((one, index) => one.id === b[index]?.id)

function seedOf(name: string): number {
  let seed = 7
  for (let i = 0; i < name.length; i++) seed = (seed * 31 + name.charCodeAt(i)) >>> 0
  return seed
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  const books = Object.entries(corpus()).toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [name, cases] of books) writeFileSync(join(folder, `${name}.jsonl`), asLines(cases))
  writeFileSync(pageFile, accuracyPage(await judgeAll(books.flatMap(([, cases]) => cases))))
}
