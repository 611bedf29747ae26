import { join, resolve } from 'node:path'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { configFolder } from './config-folder.ts'
import { readJson } from './read-json.ts'
import { takeFlag } from './take-flag.ts'

const StatusLine = z.looseObject({ type: z.literal('command'), command: z.string().min(1) })
export type StatusLine = z.infer<typeof StatusLine>
const Settings = z.looseObject({ statusLine: StatusLine.optional().catch(undefined) })
type Settings = z.infer<typeof Settings>

/** Where a session's settings are looked for. */
export type SettingsPlace = {
  readonly env: Readonly<Record<string, string>>
  readonly workingDir: string
}

/** The status line that the session would have without ours: of the project before the user's. */
export async function statusLineOf({ env, workingDir }: SettingsPlace): Promise<StatusLine | undefined> {
  const project = join(workingDir, '.claude')
  const files = [
    join(project, 'settings.local.json'),
    join(project, 'settings.json'),
    join(configFolder(env), 'settings.json'),
  ]
  for (const file of files) {
    const { statusLine } = settingsIn(await readJson(file))
    if (statusLine) return statusLine
  }
  return undefined
}

/** Takes `--settings` out of arguments: a second one would make the CLI forget the first. */
export async function takeSettings(
  args: readonly string[],
  { workingDir }: Pick<SettingsPlace, 'workingDir'>,
): Promise<{ readonly args: readonly string[]; readonly settings: Settings }> {
  const { args: rest, value } = takeFlag(args, '--settings')
  return { args: rest, settings: value === undefined ? {} : await givenSettings(value, workingDir) }
}

async function givenSettings(given: string, workingDir: string): Promise<Settings> {
  const isInline = given.trimStart().startsWith('{')
  const value = isInline ? inline(given) : await readJson(resolve(workingDir, given))
  if (typeof value !== 'object' || value === null)
    throw new AppError(
      'invalid',
      `--settings ${isInline ? 'is no JSON' : `${given} cannot be read`}; mend it or leave it out`,
    )
  return settingsIn(value)
}

function inline(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const settingsIn = (value: unknown): Settings => Settings.safeParse(value).data ?? {}
