import { promises as fs } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import { type Foreign, foreign, foreignList, isForeign } from '../../contract/formats/foreign-json.ts'

/** The user's settings, which may have comments; none when there is no file. */
export async function userSettings(path: string): Promise<Foreign> {
  const text = await fs.readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const unreadable = (cause?: unknown) =>
    new AppError('invalid', `${path} is not JSON that Gemini could start with; mend it and spawn again`, {
      cause,
    })
  try {
    const value: unknown = JSON.parse(withoutComments(text) || '{}')
    if (isForeign(value)) return value
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadable(error)
    throw error
  }
  throw unreadable()
}

/** The user's settings with our hooks behind theirs. A project may still switch all hooks off: see the policy. */
export function withHooks(settings: Foreign, hooks: Readonly<Record<string, unknown>>): Foreign {
  const theirs = foreign(settings['hooks'])
  const config = foreign(settings['hooksConfig'])
  const disabled = foreignList(config['disabled']).filter((name) => !String(name).startsWith('muster'))
  return {
    ...settings,
    hooksConfig: { ...config, enabled: true, ...(disabled.length > 0 && { disabled }) },
    hooks: {
      ...theirs,
      ...Object.fromEntries(
        Object.entries(hooks).map(([event, hook]) => [
          event,
          [...foreignList(theirs[event]), { hooks: hook }],
        ]),
      ),
    },
  }
}

const withoutComments = (text: string): string =>
  text
    .replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_match, kept?: string) => kept ?? '')
    .trim()
