import { bodyText } from './body-text.ts'

type Params = Readonly<Record<string, unknown>>

// The names tools of the known CLIs give to what they act on, most telling first.
const subjects = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]
const paths = ['file_path', 'filePath', 'notebook_path', 'path', 'file', 'filename']

/** What a tool call is about: its command, file, pattern or question. */
export function subjectOf(params: Params | undefined): string | undefined {
  if (params === undefined) return undefined
  for (const name of subjects) {
    const text = bodyText(params[name])
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

/** The files a tool call names. */
export function filesOf(params: Params | undefined): string[] {
  if (params === undefined) return []
  return paths
    .map((name) => params[name])
    .filter((value) => typeof value === 'string' && value !== '') as string[]
}
