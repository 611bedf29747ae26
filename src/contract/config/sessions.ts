import * as z from 'zod'
import { Isolation } from '../values.ts'

const placeholders = ['agent_type', 'friendly_name', 'short_id']

const NamePattern = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (text) => [...text.matchAll(/\{([^{}]*)\}/g)].every((found) => placeholders.includes(found[1] ?? '')),
    `a placeholder is one of ${placeholders.map((name) => `{${name}}`).join(', ')}`,
  )
  .refine(
    (text) => /^[A-Za-z0-9_-]*$/.test(text.replaceAll(/\{[^{}]*\}/g, '')),
    'outside its placeholders a name pattern has only letters, digits, - and _',
  )

/** What a new session takes over and how it is called. */
export const SessionsConfig = z
  .strictObject({
    default_working_dir_behavior: z
      .enum(['inherit', 'specify'])
      .default('inherit')
      .describe(
        'inherit starts a child in the folder of its parent; specify refuses a spawn without a folder.',
      ),
    inherit_environment_vars: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'))
      .max(256)
      .default(['SSH_AUTH_SOCK', 'PATH'])
      .describe('Environment variables that a new session takes over; all others are left out.'),
    observe: z
      .boolean()
      .default(true)
      .describe(
        'Show sessions of coding agents that were started outside of Muster; they are only looked at.',
      ),
    auto_restore: z
      .boolean()
      .default(true)
      .describe(
        'Bring sessions back by themselves after the daemon, tmux or the machine went down; else sm restore does it.',
      ),
    isolation: Isolation.default('none').describe(
      'none runs sessions as any program of yours; bwrap puts walls around them, so that they write only where they work and see no other session.',
    ),
    isolation_writable: z
      .array(z.string().regex(/^(?:\/|~\/)./, 'a full path, or one that begins with ~/'))
      .max(64)
      .default([])
      .describe(
        'Folders and files that isolated sessions may write besides the folder they work in, such as caches.',
      ),
    naming: z
      .strictObject({
        pattern: NamePattern.default('{agent_type}-{friendly_name}').describe(
          'Name of a session that was given a friendly name.',
        ),
        fallback: NamePattern.default('{agent_type}-{short_id}').describe(
          'Name of a session without a friendly name.',
        ),
      })
      .prefault({})
      .describe('How sessions are named.'),
  })
  .prefault({})
  .describe('What a new session takes over and how it is called.')
