import * as z from 'zod'
import { findCatastrophe } from '../pattern-safety.ts'

const Rule = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[a-z][a-z0-9-]{0,39}$/,
        'a rule name has 1 to 40 lower-case letters, digits or -, and starts with a letter',
      )
      .describe('Name that stands in the place of what was removed.'),
    pattern: z.string().min(1).max(2000).describe('Regular expression of the secret.'),
    flags: z
      .string()
      .regex(/^[imsu]*$/, 'flags are any of i, m, s, u')
      .optional()
      .describe('Flags of the regular expression: i, m, s, u.'),
  })
  .superRefine((rule, ctx) => {
    const expression = compile(rule.pattern, rule.flags)
    if (expression instanceof RegExp) {
      // A rule that matches nothing-at-all would cut every text apart.
      if (expression.test(''))
        ctx.addIssue({ code: 'custom', path: ['pattern'], message: 'the pattern matches an empty text' })
      const catastrophe = findCatastrophe(rule.pattern)
      if (catastrophe !== undefined) ctx.addIssue({ code: 'custom', path: ['pattern'], message: catastrophe })
    } else ctx.addIssue({ code: 'custom', path: ['pattern'], message: expression })
  })

/** What must never reach the disk in plain text, besides the built-in rules. */
export const RedactionConfig = z
  .strictObject({
    rules: z.array(Rule).max(200).default([]).describe('Own rules, applied after the built-in ones.'),
    known_env: z
      .array(
        z
          .string()
          .regex(
            /^[A-Za-z0-9_*?]+$/,
            'the name of an environment variable; * and ? stand for any characters',
          ),
      )
      .max(500)
      .default(['*_TOKEN', '*_KEY', '*_SECRET', '*PASSWORD*'])
      .describe(
        'Environment variables whose values are removed wherever they appear. A list of your own replaces this one.',
      ),
    keys: z
      .array(z.string().min(1).max(200))
      .max(500)
      .default([])
      .describe('Names of fields whose values are always removed, on top of the built-in names.'),
  })
  .prefault({})
  .describe('What is removed from every event before it is written.')

function compile(pattern: string, flags = ''): RegExp | string {
  try {
    return new RegExp(pattern, flags)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message
  }
}
