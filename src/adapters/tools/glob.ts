import * as z from 'zod'
import type { Tool } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { globPattern } from './glob-pattern.ts'
import { FilePath } from './input.ts'
import { listFiles, mustExist } from './list-files.ts'
import type { MatchesGlob } from './may-change.ts'

const mostShown = 200

const Input = z.strictObject({
  pattern: z.string().min(1).max(500).describe('A glob such as **/*.ts, src/**/*.{js,jsx} or README*'),
  path: FilePath.optional().describe('The folder to look in; the project when left out'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly env: Readonly<Record<string, string>> }

export const globTool = ({ matchesGlob, env }: Parts): Tool =>
  defineTool({
    name: 'Glob',
    description: [
      'Finds files by their names, the newest first.',
      '* and ? stay inside a folder, ** crosses folders, {a,b} is a choice; a pattern without a slash is looked for in every folder.',
      `Files that git ignores are left out unless path names an ignored folder. It shows ${mostShown} files at most.`,
    ].join(' '),
    category: 'perception',
    input: Input,
    async run({ pattern, path = '.' }, { workspace, signal }) {
      const base = await placeInside(workspace, path)
      await mustExist(base, path)
      const below = pattern.startsWith(`${base.full}/`) ? pattern.slice(base.full.length + 1) : pattern
      const { files, isCut } = await listFiles(base, { wants: globPattern(below, matchesGlob), env, signal })
      if (files.length === 0) return { text: 'No file matches.', isError: false }
      const newest = files.toSorted((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1))
      const text = newest.slice(0, mostShown).map((file) => file.path)
      if (files.length <= mostShown && !isCut) return { text: text.join('\n'), isError: false }
      const note = `[${mostShown} of ${files.length}${isCut ? ' or more' : ''} files; use a narrower pattern or path]`
      return { text: [...text, note].join('\n'), isError: false, isTruncated: true }
    },
  })
