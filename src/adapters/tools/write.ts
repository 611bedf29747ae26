import * as z from 'zod'
import type { Tool } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { changeFile } from './change-file.ts'
import { removeDrafts } from './draft-files.ts'
import { FilePath } from './input.ts'
import { type MatchesGlob, mustBeChangeable } from './may-change.ts'
import type { WorkspaceTurns } from './workspace-turns.ts'

const mostChars = 4 << 20

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  content: z.string().max(mostChars).describe('The whole new content'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly turns: WorkspaceTurns }

export const writeTool = ({ matchesGlob, turns }: Parts): Tool =>
  defineTool({
    name: 'Write',
    description: [
      'Writes a whole file, and makes its folders when they are missing.',
      'A file that exists is replaced; it must have been Read in this run.',
      'To change a part of a file use Edit.',
    ].join(' '),
    category: 'action',
    input: Input,
    target: ({ file_path }) => file_path,
    tidy: (path, workspace) => removeDrafts(workspace, path),
    async run({ file_path, content }, context) {
      const place = await placeInside(context.workspace, file_path)
      mustBeChangeable(place, context, matchesGlob)
      const change = await turns.shared(place.workspace, context.signal, () =>
        changeFile(place, context, () => Buffer.from(content)),
      )
      const { path, linesAdded, linesRemoved } = change
      const text =
        change.change === 'created'
          ? `${path} was created with ${linesAdded} lines.`
          : `${path} was replaced: ${linesAdded} lines added, ${linesRemoved} removed.`
      return { text, isError: false, changes: [change] }
    },
  })
