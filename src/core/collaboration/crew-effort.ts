/** What crews that came to their end used, all together. */
export type EarlierCrews = { readonly crews: number; readonly agents: number; readonly tokens: number }

type Planned = {
  readonly tasks: number
  readonly reviewers: number
  readonly maxIterations: number
  /** How many developers may work at a time. */
  readonly atOnce: number
  readonly earlier: EarlierCrews
  readonly budget?: { readonly tokens?: number | undefined; readonly usd?: number | undefined } | undefined
}

/** What carrying out a plan will take, in words for whoever approves it: an estimate, with what it rests on. */
export function estimateWords(planned: Planned): string {
  const { tasks, reviewers, maxIterations, atOnce, earlier, budget } = planned
  const least = tasks + reviewers
  const most = least * maxIterations
  const rounds = maxIterations === 1 ? '1 round' : `1 to ${maxIterations} rounds`
  const agents = `Estimate: ${range(least, most)} agents after this plan, up to ${Math.min(tasks, atOnce)} at once, for ${rounds}`
  return [`${agents}; ${tokenWords(earlier, { least, most })}.`, ...stopWords(budget)].join('\n')
}

/** What a crew usually uses, before anybody has planned what this one will do; nothing where none has finished here. */
export const usualTokens = ({ crews, tokens }: EarlierCrews): number | undefined =>
  crews === 0 ? undefined : rounded(tokens / crews)

function tokenWords(
  { crews, agents, tokens }: EarlierCrews,
  { least, most }: { readonly least: number; readonly most: number },
): string {
  if (agents === 0) return 'there is no estimate of tokens, because no crew has finished here before'
  const each = tokens / agents
  return `about ${range(rounded(least * each), rounded(most * each))} tokens, by ${crews} earlier crew${crews === 1 ? '' : 's'}`
}

function stopWords(budget: Planned['budget']): string[] {
  const bounds = [
    ...(budget?.tokens === undefined ? [] : [`${number(budget.tokens)} tokens`]),
    ...(budget?.usd === undefined ? [] : [`$${budget.usd}`]),
  ]
  return bounds.length === 0 ? [] : [`It is stopped at ${bounds.join(' or ')}.`]
}

/** Two digits: more would say that it is known better. */
const rounded = (value: number): number => Number(value.toPrecision(2))

const range = (least: number, most: number): string =>
  least === most ? number(least) : `${number(least)} to ${number(most)}`

const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')

/** What is known of a run at one time: a sign of life, that a daemon resumed it, or whether it waits for a person. */
export type WorkSign = {
  readonly atMs: number
  readonly is: 'sign' | 'resumed' | 'waiting' | 'at_work'
}

/** How long a run was at work: without the time in which no daemon was there, and without that of a person who was asked. */
export function timeUsed(signs: readonly WorkSign[]): number {
  let used = 0
  let isWaiting = false
  for (const [i, { atMs, is }] of signs.entries()) {
    const last = signs[i - 1]
    // After its last sign of life nobody knows how long a daemon that was killed was still there.
    if (last && !isWaiting && is !== 'resumed') used += Math.max(0, atMs - last.atMs)
    if (is === 'waiting' || is === 'at_work') isWaiting = is === 'waiting'
  }
  return used
}
