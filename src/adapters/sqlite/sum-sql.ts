import { tables } from '../../contract/index-tables.ts'

/** A sum that is null when nothing was summed, and never overflows an integer. */
export const sumSql = (column: string): string =>
  `CASE WHEN count(${column}) > 0 THEN min(total(${column}), ${Number.MAX_SAFE_INTEGER}.0) END AS ${column}`

const usageColumns = [
  'calls',
  'unpriced',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'tokens',
]

/** The sums of a set of rows that carry model calls. */
export const usageSums = [...usageColumns, 'costNano'].map(sumSql).join(', ')

/** The columns of the roll-ups that are summed, in the order of the table. */
export const rollupCounters = Object.keys(tables.rollups.columns).filter(
  (name) => !(tables.rollups.key as readonly string[]).includes(name),
)
