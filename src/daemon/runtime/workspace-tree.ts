import type { TreeNode } from '../../contract/runtime-routes.ts'
import { seconds } from './run-record.ts'

/** A file that a running agent is touching. */
export type Touched = { readonly path: string; readonly agent: string; readonly atMs: number }

/** The touched files of a project as folders and files; one that two agents touch shows the last of them. */
export function workspaceTree(root: string, touched: readonly Touched[]): TreeNode {
  const tree: TreeNode = { type: 'dir', path: root, children: [] }
  for (const { path, agent, atMs } of touched.toSorted((a, b) => a.atMs - b.atMs)) {
    const inside = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    const names = inside.split('/').filter((name) => name !== '' && name !== '.')
    if (names.length === 0 || names.includes('..') || inside.startsWith('/')) continue
    let node = tree
    for (const i of names.keys()) {
      const isFile = i === names.length - 1
      const at = names.slice(0, i + 1).join('/')
      node.children ??= []
      let next = node.children.find((child) => child.path === at)
      if (!next) {
        next = isFile ? { type: 'file', path: at } : { type: 'dir', path: at, children: [] }
        node.children.push(next)
      }
      if (isFile) Object.assign(next, { agent, status: 'working', last_modified: seconds(atMs) })
      node = next
    }
  }
  return tree
}
