import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { Tool } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { changeFile } from './change-file.ts'
import { removeDrafts } from './draft-files.ts'
import { FilePath } from './input.ts'
import { type MatchesGlob, mustBeChangeable } from './may-change.ts'
import { replaceText } from './replace-text.ts'
import type { WorkspaceTurns } from './workspace-turns.ts'

const mostChars = 1 << 20

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  old_string: z.string().min(1).max(mostChars).describe('The text to replace, exactly as it is in the file'),
  new_string: z.string().max(mostChars).describe('The text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence; false when left out'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly turns: WorkspaceTurns }

export const editTool = ({ matchesGlob, turns }: Parts): Tool =>
  defineTool({
    name: 'Edit',
    description: [
      'Replaces a text in a file that was Read in this run.',
      'old_string must be exactly what is in the file, without the line numbers of Read, and occur once;',
      'take more of the lines around it when it occurs more often, or set replace_all.',
    ].join(' '),
    category: 'action',
    input: Input,
    target: ({ file_path }) => file_path,
    tidy: (path, workspace) => removeDrafts(workspace, path),
    async run({ file_path, replace_all = false, ...strings }, context) {
      const place = await placeInside(context.workspace, file_path)
      mustBeChangeable(place, context, matchesGlob)
      let done = { count: 0, line: 0 }
      const change = await turns.shared(place.workspace, context.signal, () =>
        changeFile(place, context, (before) => {
          if (!before) throw new AppError('not_found', `${place.relative} does not exist; make it with Write`)
          const { content, ...rest } = replaceText(before, {
            old: strings.old_string,
            replacement: strings.new_string,
            isAll: replace_all,
          })
          done = rest
          return content
        }),
      )
      const where =
        done.count === 1 ? `at line ${done.line}` : `in ${done.count} places, the first at line ${done.line}`
      const text = `${change.path} was changed ${where}: ${change.linesAdded} lines added, ${change.linesRemoved} removed.`
      return { text, isError: false, changes: [change] }
    },
  })
