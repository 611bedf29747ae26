/**
 * Messages to sessions through storms: `npm run campaign delivery -- --runs 1000 --seed 1`. With `--claude 200` so many
 * go to the real Claude Code instead; `--version 2.1.197` names which. What a run with findings leaves behind is kept,
 * and with `--keep 1` that of every run: journal, transcripts, and in `heard.jsonl` what the model was told.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CampaignOptions, campaign, type Figures } from '../support/delivery/campaign.ts'
import { claudeField } from '../support/delivery/claude-field.ts'
import { fakeField } from '../support/delivery/fake-field.ts'

const setting = (name: string, usual: number): number =>
  Number(process.env[`MUSTER_CAMPAIGN_${name}`] ?? usual)
const seed = setting('SEED', 1)
const claude = setting('CLAUDE', 0)
const version = process.env['MUSTER_CAMPAIGN_VERSION'] ?? '2.1.325'

const options = (messages: number): CampaignOptions => ({
  messages,
  seed,
  kills: setting('KILLS', Math.ceil(messages / 40)),
  personEveryMs: 4000,
  say: (line) => process.stderr.write(`${line}\n`),
})

async function throughFake(home: string): Promise<Figures> {
  const field = await fakeField(home, { sessions: setting('SESSIONS', 6), seed })
  try {
    const figures = await campaign(field, options(setting('RUNS', 1000)))
    const answered = field.count('dialog', 'enter')
    if (answered > 0) figures.faults.push(`${answered} dialogs were answered by an Enter of ours`)
    const kinds = ['swallowed', 'dialog', 'dropped', 'interrupt', 'inject']
    console.log(Object.fromEntries(kinds.map((kind) => [kind, field.count(kind)])))
    return figures
  } finally {
    await field.close()
  }
}

async function throughClaude(home: string): Promise<Figures> {
  const field = await claudeField(home, { sessions: setting('SESSIONS', 3), seed, version })
  try {
    return await campaign(field, options(claude))
  } finally {
    await field.close()
  }
}

const home = mkdtempSync(join(tmpdir(), 'md-'))
let isKept = true
try {
  const figures = await (claude > 0 ? throughClaude : throughFake)(home)
  console.log({ seed, program: claude > 0 ? `Claude Code ${version}` : 'the fake', ...figures })
  if (figures.faults.length > 0) process.exitCode = 1
  isKept = figures.faults.length > 0 || setting('KEEP', 0) > 0
} finally {
  if (isKept) console.log(`kept: ${home}`)
  else rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
