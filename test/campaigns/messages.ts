/**
 * Messages to sessions while people type: `npm run campaign messages -- --cli gemini --runs 200 --seed 1`. Without `--cli`
 * every coding CLI has its turn. Each message has 1 to 50,000 characters in 1 to 400 lines; it arrives once and whole, or
 * its sender is told, and no character of a person is lost; a table at the end says so of each CLI. With `--storm 1` Claude Code gets messages of every kind and mode through slow turns, tools,
 * questions and kill -9, and `--cli fake` an unkind program; `--version 2.1.197` names which Claude Code. What a run with
 * findings leaves behind is kept, and with `--keep 1` that of every run: journal, transcripts, and in `heard.jsonl` what
 * the model was told.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codingCliNames, isCodingCli } from '../../src/contract/agent-clis.ts'
import { type CampaignOptions, campaign, type Figures } from '../support/delivery/campaign.ts'
import { cliField } from '../support/delivery/cli-field.ts'
import { fakeField } from '../support/delivery/fake-field.ts'
import { edgesOf } from '../support/delivery/plan.ts'

const setting = (name: string, usual: number): number =>
  Number(process.env[`MUSTER_CAMPAIGN_${name}`] ?? usual)
const seed = setting('SEED', 1)
const isStorm = setting('STORM', 0) > 0
const version = process.env['MUSTER_CAMPAIGN_VERSION']
const asked = process.env['MUSTER_CAMPAIGN_CLI']

const options = (messages: number, more: Partial<CampaignOptions>): CampaignOptions => ({
  messages,
  seed,
  kills: setting('KILLS', 0),
  personEveryMs: 4000,
  say: (line) => process.stderr.write(`${line}\n`),
  ...more,
})

async function throughFake(home: string): Promise<Figures> {
  const field = await fakeField(home, { sessions: setting('SESSIONS', 6), seed })
  try {
    const runs = setting('RUNS', 1000)
    const figures = await campaign(field, options(runs, { kills: setting('KILLS', Math.ceil(runs / 40)) }))
    const answered = field.count('dialog', 'enter')
    if (answered > 0) figures.faults.push(`${answered} dialogs were answered by an Enter of ours`)
    const kinds = ['swallowed', 'dialog', 'dropped', 'interrupt', 'inject']
    console.log(Object.fromEntries(kinds.map((kind) => [kind, field.count(kind)])))
    return figures
  } finally {
    await field.close()
  }
}

async function throughCli(home: string, cli: (typeof codingCliNames)[number]): Promise<Figures> {
  const runs = setting('RUNS', 200)
  const sessions = setting('SESSIONS', isStorm ? 3 : 6)
  const field = await cliField(home, {
    cli,
    sessions,
    seed,
    isDressed: isStorm,
    ...(version && { version }),
  })
  try {
    const kills = setting('KILLS', Math.ceil(runs / 40))
    return await campaign(
      field,
      options(runs, isStorm ? { kills } : { sizes: 'lengths', edges: edgesOf(cli) }),
    )
  } finally {
    await field.close()
  }
}

if (asked !== undefined && asked !== 'fake' && !isCodingCli(asked))
  throw new Error(`no CLI ${asked}; there are: ${codingCliNames.join(', ')}, fake`)
const table: Record<string, Record<string, number>> = {}
const turns = asked === undefined ? (isStorm ? (['claude'] as const) : codingCliNames) : [asked]
for (const cli of turns) {
  const home = mkdtempSync(join(tmpdir(), 'md-'))
  let isKept = true
  try {
    const figures = await (isCodingCli(cli) ? throughCli(home, cli) : throughFake(home))
    console.log({ seed, cli, ...(version && { version }), ...figures })
    table[cli] = {
      sent: figures.messages,
      'whole, once': figures.accepted,
      'dead letters, told': figures.refused.length,
      'within its bound': figures.messages - figures.late,
      'slowest, s': figures.longestSeconds,
      'typed by people': figures.typed,
      'of that lost': figures.lost,
      'in all, s': figures.seconds,
    }
    if (figures.faults.length > 0) process.exitCode = 1
    isKept = figures.faults.length > 0 || setting('KEEP', 0) > 0
  } finally {
    if (isKept) console.log(`kept: ${home}`)
    else rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}
console.table(table)
