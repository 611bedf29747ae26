import type * as z from 'zod'
import type { DeveloperInput } from '../../../contract/session-file/outputs.ts'
import { checksOfTask, type RequiredCheck } from '../required-checks.ts'
import { fencedJson, howToAnswer } from './quoted.ts'

type Given = {
  readonly input: z.infer<typeof DeveloperInput>
  /** Commands that the whole work will be checked with. */
  readonly checks?: readonly RequiredCheck[]
}

/** Gives a developer its task. */
export function developerPrompt({ input, checks = [] }: Given): string {
  const attempts = input.context?.previous_attempts ?? []
  const isTestWanted = input.constraints?.testing_required !== false
  const own = checksOfTask(checks, { testing_required: isTestWanted })
  return [
    'You are a developer in a crew. Carry out exactly this task in the current folder, which is a git work tree of your own.',
    fencedJson(input),
    [
      'Rules:',
      '- Read the reference files and specs first, then the code that you change and its tests.',
      '- Change only files that `constraints.scope` names. Changes elsewhere are refused with all of the work; if the task needs one, say so in `blockers`.',
      ...(input.constraints?.style_guide === undefined
        ? []
        : ['- Write as `constraints.style_guide` says, also where it is not your own way.']),
      ...(isTestWanted ? ['- Write tests for what you add, and run them.'] : []),
      ...(checks.length === 0 ? [] : [`- These commands must succeed in the end: ${commands(checks)}.`]),
      ...(own.length === 0
        ? []
        : [
            `- When you say that you are done, ${commands(own)} is run in your work tree. Work that it fails for is not done, and goes back with what was printed.`,
          ]),
      ...(attempts.length === 0
        ? []
        : ['- This was tried before. `previous_attempts` says what was wrong; each point has to be mended.']),
      '- Leave branches, commits and pushes alone; what you leave in the work tree is collected.',
      '- Ask nobody: decide what can be decided, and put the rest into `blockers`.',
    ].join('\n'),
    howToAnswer(developerExample),
    '`status` is completed (the whole task is done and the tests you ran pass), partial (something usable is there; `blockers` says what is missing) or failed. Everything but `status` and `summary` may be left out. Never report a result that you did not see.',
  ].join('\n\n')
}

const commands = (checks: readonly RequiredCheck[]): string => checks.map(({ command }) => command).join('; ')

/** The shape of a developer's answer as it is shown. */
export const developerExample = {
  status: 'completed',
  summary: '<what you did, and which command showed that it works>',
  implementation_notes: '<decisions and surprises that a reviewer should know>',
  self_review: { tests_run: true, tests_passed: true, type_check_passed: true, known_issues: [] },
  blockers: [],
}
