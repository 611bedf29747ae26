import { table } from './table.ts'

/** The table as a Mermaid map; an arrow says "may import", a dotted one "only when needed". */
export function draw(): string {
  const names = Object.keys(table)
  const lines = Object.entries(table).flatMap(([from, { folders, lazily = [] }]) => [
    ...(folders.includes('*')
      ? names.filter((name) => name !== from)
      : folders.filter((name) => name in table)
    ).map((to) => `  ${from} --> ${to}`),
    ...lazily.map((to) => `  ${from} -.-> ${to.split('/')[0]}`),
  ])
  return ['graph TD', ...lines].join('\n')
}
