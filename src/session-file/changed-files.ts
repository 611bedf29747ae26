import type { ToolCall } from '../contract/session-file/agent-session.ts'
import { isRecord } from '../core/json/json-value.ts'

export type ChangeKind = 'created' | 'modified' | 'deleted'
export type FileEffect = { readonly path: string; readonly change: ChangeKind }
/** The files a stretch of work left changed, each in one list, in order of first change. */
export type ChangedFiles = {
  readonly created: string[]
  readonly modified: string[]
  readonly deleted: string[]
}

const writers = new Set(['write', 'writefile', 'createfile'])
const editors = new Set(['edit', 'multiedit', 'notebookedit', 'replace', 'strreplace'])
const readers = new Set(['read', 'readfile'])
const patchers = new Set(['applypatch', 'patch'])
const patchLine = /^\*\*\* (Add|Update|Delete) File: (.+)$/gm

/** The files that calls created and modified; failed calls changed nothing. */
export function filesChangedBy(calls: readonly ToolCall[]): ChangedFiles {
  const seen = new Set<string>()
  return foldEffects(calls.flatMap((call) => effectsOf(call, seen)))
}

/** Later effects against earlier ones: what was created and then edited is created, what was deleted is gone. */
export function foldEffects(effects: readonly FileEffect[]): ChangedFiles {
  const state = new Map<string, ChangeKind>()
  for (const { path, change } of effects) {
    const before = state.get(path)
    if (change === 'deleted' && before === 'created') state.delete(path)
    else if (change === 'modified' && before === 'created') continue
    else state.set(path, change === 'created' && before === 'deleted' ? 'modified' : change)
  }
  const of = (kind: ChangeKind) => [...state].flatMap(([path, each]) => (each === kind ? [path] : []))
  return { created: of('created'), modified: of('modified'), deleted: of('deleted') }
}

function effectsOf(call: ToolCall, seen: Set<string>): FileEffect[] {
  if (call.output.status !== 'success') return []
  const tool = call.tool_name.toLowerCase().replace(/[_-]/g, '')
  const { params } = call.input
  if (patchers.has(tool)) return patchEffects(params)
  const path = pathOf(params)
  if (path === undefined) return []
  const wasSeen = seen.has(path)
  if (readers.has(tool)) seen.add(path)
  if (editors.has(tool)) return [{ path, change: 'modified' }]
  if (!writers.has(tool)) return []
  seen.add(path)
  const { result } = call.output
  const said = result?.['type']
  // Without a word from the tool, a file that was read or written before must have been there.
  const isNew = said === 'create' || result?.['file_created'] === true || (said !== 'update' && !wasSeen)
  return [{ path, change: isNew ? 'created' : 'modified' }]
}

function patchEffects(params: unknown): FileEffect[] {
  const text = isRecord(params) ? Object.values(params).find((value) => typeof value === 'string') : undefined
  const kinds = { Add: 'created', Update: 'modified', Delete: 'deleted' } as const
  return [...(text ?? '').matchAll(patchLine)].map(([, kind, path]) => ({
    path: (path ?? '').trim(),
    change: kinds[kind as keyof typeof kinds],
  }))
}

function pathOf(params: unknown): string | undefined {
  if (!isRecord(params)) return undefined
  const names = ['file_path', 'path', 'filePath', 'notebook_path', 'absolute_path']
  const path = names.map((name) => params[name]).find((value) => typeof value === 'string' && value !== '')
  return path as string | undefined
}
