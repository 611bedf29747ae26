import { AppError } from '../contract/errors.ts'
import type { Budget } from '../contract/values.ts'

const factors: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

/** Reads what a session may use up: `200k` and `1.5m` are tokens, `5usd` is money. */
export function parseBudget(amounts: readonly string[]): Budget | undefined {
  if (amounts.length === 0) return undefined
  const budget: Budget = {}
  for (const amount of amounts) {
    const money = /^(?:\$(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)usd)$/i.exec(amount)
    const tokens = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(amount)
    if (money) budget.usd = positive(Number(money[1] ?? money[2]), amount)
    else if (tokens) {
      const factor = factors[tokens[2]?.toLowerCase() ?? ''] ?? 1
      budget.tokens = positive(Math.round(Number(tokens[1]) * factor), amount)
    } else throw notABudget(amount)
  }
  return budget
}

function positive(value: number, amount: string): number {
  if (value > 0 && value <= Number.MAX_SAFE_INTEGER) return value
  throw notABudget(amount)
}

const notABudget = (amount: string): AppError =>
  new AppError('invalid', `'${amount}' is not a budget; write tokens like 200k or 1.5m, or money like 5usd`)

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a point in the past: an age like `10min`, a time of today like `15:10`, or an ISO time. */
export function parseSince(text: string, now: number): string {
  const age = /^(\d+)\s*(s|sec|m|min|h|hr|d|days?)$/.exec(text)
  if (age) return isoOf(now - Number(age[1]) * (unitMs[age[2]?.charAt(0) ?? ''] ?? 0), text)
  const clock = /^(\d{1,2}):(\d{2})$/.exec(text)
  if (clock) return isoOf(lastTimeAt(Number(clock[1]), Number(clock[2]), now), text)
  return isoOf(/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN, text)
}

/** When the clock last showed a time, where the person is. */
function lastTimeAt(hours: number, minutes: number, now: number): number {
  if (hours > 23 || minutes > 59) return Number.NaN
  const at = new Date(now)
  at.setHours(hours, minutes, 0, 0)
  if (at.getTime() > now) at.setDate(at.getDate() - 1)
  return at.getTime()
}

function isoOf(at: number, text: string): string {
  const date = new Date(at)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new AppError(
    'invalid',
    `'${text}' is not a time; write an age like 10min, 15:10, or 2026-01-27T15:10Z`,
  )
}

/** Only what was given on the command line: options that were left out are not sent at all. */
export function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined | false> } {
  const kept = Object.entries(options).filter(([, value]) => value !== undefined && value !== false)
  return Object.fromEntries(kept) as ReturnType<typeof given<T>>
}
