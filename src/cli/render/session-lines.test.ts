import fc from 'fast-check'
import { expect, test } from 'vitest'
import { session } from '../../../test/cli/session-data.ts'
import { treeOrder } from './session-lines.ts'

test('[MUS-373] a branch ends at the last child and runs on before every other, at every depth', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(30), { nil: undefined }), { maxLength: 30 }), (parents) => {
      const ids = parents.map((_, i) => i.toString(16).padStart(8, '0'))
      const parentOf = (i: number): number | undefined => {
        const parent = parents[i]
        return parent !== undefined && parent < i ? parent : undefined
      }
      const sessions = ids.map((id, i) => {
        const above = ids[parentOf(i) ?? -1] ?? null
        return session(id, { parent_session_id: above, created_at: new Date(i * 1000).toISOString() })
      })
      const placed = treeOrder(sessions)
      const indexOf = (id: string) => ids.indexOf(id)
      const isLast = (i: number) => !ids.some((_, j) => j > i && parentOf(j) === parentOf(i))
      const drawn = (i: number): string => {
        const above = parentOf(i)
        if (above === undefined) return ''
        const trail: string[] = []
        for (let at = above; parentOf(at) !== undefined; at = parentOf(at) as number)
          trail.unshift(isLast(at) ? '  ' : '│ ')
        return `${trail.join('')}${isLast(i) ? '└─ ' : '├─ '}`
      }
      expect(placed.map(({ session: { session_id } }) => session_id).toSorted()).toEqual(ids.toSorted())
      for (const { session: one, branch } of placed) expect(branch).toBe(drawn(indexOf(one.session_id)))
      // Each stands right below its parent or below what stands below that.
      const at = new Map(placed.map(({ session: one }, i) => [one.session_id, i]))
      for (const [i, id] of ids.entries()) {
        const above = parentOf(i)
        if (above !== undefined) expect(at.get(id)).toBeGreaterThan(at.get(ids[above] as string) as number)
      }
    }),
  )
})
