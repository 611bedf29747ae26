import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { count, plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { table } from './table.ts'

type ShownCrew = CommandOutput<'crews show'>

/** The crews that can be run, one line each. */
export function renderCrewList(crews: CommandOutput<'crews list'>, { width }: View): string {
  if (crews.length === 0) return 'No crews were found.'
  return table(
    [
      { title: 'NAME' },
      { title: 'FROM' },
      { title: 'MEMBERS', align: 'right' },
      { title: 'DESCRIPTION', isElastic: true },
    ],
    crews.map((crew) => [crew.name, crew.source, String(crew.members.length), oneLine(crew.description)]),
    width,
  )
}

/** One crew: how it works, within which bounds, and who takes part. */
export function renderCrew(crew: ShownCrew, { width, color }: View): string {
  const paint = painter(color)
  const rows: [string, string][] = [
    ['works', flowWords[crew.flow]],
    ['limits', limitWords(crew)],
    ...(crew.budget ? [['budget', budgetWords(crew.budget)] satisfies [string, string]] : []),
    ['checks', checkWords(crew)],
    ...(crew.styleGuide === undefined
      ? []
      : [['style', styleWords(crew.styleGuide)] satisfies [string, string]]),
    ...(crew.approvePlan
      ? [['plan', 'approved by a person before work begins'] satisfies [string, string]]
      : []),
    ['at the end', endWords[crew.onMaxIterations]],
    ...(crew.aliases.length > 0 ? [['aliases', crew.aliases.join(', ')] satisfies [string, string]] : []),
    ...crew.recommendedFor.map((work): [string, string] => ['good for', work]),
    ['file', `${crew.file} (${crew.source})`],
  ]
  return [
    `${paint('bold', crew.name)}  ${oneLine(crew.description)}`.trimEnd(),
    ...rows.map(([term, text]) => `  ${term.padEnd(10)}  ${oneLine(text)}`),
    '',
    memberTable(crew, width),
    ...crew.members.flatMap(({ id, guidelines }) =>
      guidelines.map((sentence) => `  ${id}: ${oneLine(sentence)}`),
    ),
  ].join('\n')
}

function memberTable({ members }: ShownCrew, width: number): string {
  return table(
    [
      { title: 'MEMBER' },
      { title: 'DUTY' },
      { title: 'AGENT' },
      { title: 'CLI' },
      { title: 'MODEL' },
      { title: 'AT A TIME', isElastic: true },
    ],
    members.map(({ id, duty, agent, cli, model, count: most }) => [
      id,
      duty,
      agent,
      cli,
      model ?? '-',
      String(most),
    ]),
    width,
  )
}

const flowWords: Record<ShownCrew['flow'], string> = {
  planned: 'an architect makes a plan, and its tasks are handed out',
  one_task: 'the request is the one task',
  review: 'what is there is reviewed; nothing is changed',
  pipeline: "each member's output is the next one's input",
}

const endWords: Record<ShownCrew['onMaxIterations'], string> = {
  human_review: 'a person decides about work that was not approved in the last round',
  abort: 'work that was not approved in the last round has failed',
  force_approve: 'work that was not approved in the last round is taken all the same',
}

function limitWords({ limits }: ShownCrew): string {
  return [
    plural(limits.maxIterations, 'round'),
    `${plural(limits.maxTasks, 'task')}, ${limits.maxParallel} at a time`,
    `${limits.developerMinutes} min for a task, ${limits.reviewerMinutes} min for a review`,
  ].join('; ')
}

function budgetWords({ tokens, usd }: NonNullable<ShownCrew['budget']>): string {
  return [tokens && `${count(tokens)} tokens`, usd && `$${usd}`].filter(Boolean).join(', ') || 'no bound'
}

function checkWords({ checks }: ShownCrew): string {
  const named = [
    ...(checks.test === undefined ? [] : [checks.test]),
    ...(checks.typeCheck === undefined ? [] : [checks.typeCheck]),
    ...checks.custom.map(({ name, command }) => `${name} (${command})`),
  ]
  return named.length === 0 ? 'none of its own' : named.join(', ')
}

const styleWords = (style: NonNullable<ShownCrew['styleGuide']>): string =>
  typeof style === 'string' ? style.slice(0, 200) : `as ${style.file} of the project says`
