import { type Part, patternsOf, type Sign, takesChar } from './glob-patterns.ts'

const mostPairs = 10_000

/** Whether one path can be named by both globs. Where that takes too long to find out, the answer is yes. */
export function globsOverlap(left: string, right: string): boolean {
  const [lefts, rights] = [patternsOf(left), patternsOf(right)]
  if (lefts.length * rights.length > mostPairs) return true
  return lefts.some((one) => rights.some((other) => patternsMeet(one, other)))
}

/** Walks both patterns name by name; a pattern that is at its end takes whatever lies below. */
function patternsMeet(left: readonly Part[], right: readonly Part[]): boolean {
  return meet(left.length, right.length, (i, j) => {
    const [one, other] = [left[i], right[j]]
    const steps: Step[] = []
    // In front of more it may stand for nothing; at the end it stands for something below.
    if (one === '**' && i < left.length - 1) steps.push([i + 1, j])
    if (other === '**' && j < right.length - 1) steps.push([i, j + 1])
    if (one === undefined || other === undefined || one === '**' || other === '**' || namesMeet(one, other))
      for (const a of after(left, i)) for (const b of after(right, j)) steps.push([a, b])
    return steps
  })
}

/** Where a pattern may be once it took a name. */
function after(parts: readonly Part[], at: number): number[] {
  if (at >= parts.length) return [at]
  if (parts[at] !== '**') return [at + 1]
  return at === parts.length - 1 ? [at + 1] : [at]
}

function namesMeet(left: readonly Sign[], right: readonly Sign[]): boolean {
  return meet(left.length, right.length, (i, j) => {
    const [one, other] = [left[i], right[j]]
    const steps: Step[] = []
    if (isMany(one)) steps.push([i + 1, j])
    if (isMany(other)) steps.push([i, j + 1])
    if (one !== undefined && other !== undefined && signsMeet(one, other))
      steps.push([isMany(one) ? i : i + 1, isMany(other) ? j : j + 1])
    return steps
  })
}

// Two classes may have nothing in common; saying that they might costs no more than an order between two tasks.
const signsMeet = (one: Sign, other: Sign): boolean =>
  typeof one === 'string'
    ? isMany(other) || takesChar(other, one)
    : typeof other === 'string'
      ? isMany(one) || takesChar(one, other)
      : true

const isMany = (sign: Sign | undefined): boolean => typeof sign === 'object' && sign.kind === 'many'

type Step = readonly [number, number]

/** Whether both can come to their ends together. */
function meet(left: number, right: number, stepsFrom: (i: number, j: number) => Step[]): boolean {
  const seen = new Set<number>([0])
  const open: Step[] = [[0, 0]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [i, j] = next
    if (i === left && j === right) return true
    for (const step of stepsFrom(i, j)) {
      const key = step[0] * (right + 1) + step[1]
      if (!seen.has(key)) {
        seen.add(key)
        open.push(step)
      }
    }
  }
  return false
}
