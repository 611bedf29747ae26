import { dirname } from 'node:path'
import type { Branches } from '../../ports/branches.ts'
import { findPlace } from '../system/place.ts'
import { listedWorktrees } from './listed-worktrees.ts'

export const worktreesIn: Branches['worktreesIn'] = async (root, folder, signal) => {
  const { full } = await findPlace(root, folder)
  return (await listedWorktrees(root, signal)).filter(({ path }) => dirname(path) === full)
}
