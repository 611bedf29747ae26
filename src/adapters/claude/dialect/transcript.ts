import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptContext } from '../../../ports/agent-cli.ts'
import { assistantSignals } from './assistant-line.ts'
import { trigger } from './hooks.ts'
import { present } from './present.ts'
import { isTaskNotification } from './task-notification.ts'
import { TranscriptLine } from './transcript-line.ts'
import { remembered } from './transcript-memory.ts'
import { backgroundEnd, type Line, userSignals } from './user-line.ts'

/** What one line of a conversation's file tells. */
export function transcriptSignals(text: string, context: TranscriptContext): readonly Signal[] {
  const entry = parsed(text)
  const at = entry?.timestamp === undefined ? Number.NaN : Date.parse(entry.timestamp)
  if (!entry || Number.isNaN(at)) return []
  const agent = context.agent ?? (entry.isSidechain ? (entry.agentId ?? 'sidechain') : undefined)
  const line: Line = {
    entry,
    base: { source: 'transcript', at, ...present({ agent }) },
    memory: remembered(context.memory),
  }
  return readers[entry.type]?.(line) ?? []
}

const readers: Readonly<Partial<Record<string, (line: Line) => readonly Signal[]>>> = {
  user: userSignals,
  assistant: assistantSignals,
  system: compacted,
  'queue-operation': queued,
  attachment: attached,
}

function attached(line: Line): readonly Signal[] {
  const { type, prompt = '', content } = line.entry.attachment ?? {}
  // A prompt that a running turn takes from the queue leaves no line of its own.
  if (type === 'queued_command') return backgroundEnd(prompt, line)
  if (type !== 'hook_additional_context' || !Array.isArray(content)) return []
  const texts = content.filter((text) => typeof text === 'string')
  return texts.map((text) => ({ ...line.base, kind: 'injected', text }))
}

function parsed(text: string): TranscriptLine | undefined {
  try {
    const read = TranscriptLine.safeParse(JSON.parse(text))
    return read.success ? read.data : undefined
  } catch {
    // A line that is cut off, or no JSON at all.
    return undefined
  }
}

function compacted({ entry, base }: Line): readonly Signal[] {
  if (entry.subtype !== 'compact_boundary') return []
  const { trigger: word, preTokens: before, postTokens: after } = entry.compactMetadata ?? {}
  return [{ ...base, kind: 'compacted', ...present({ trigger: trigger(word), before, after }) }]
}

function queued({ entry, base }: Line): readonly Signal[] {
  const { operation, content } = entry
  if (operation !== 'enqueue' || typeof content !== 'string' || isTaskNotification(content)) return []
  return [{ ...base, kind: 'prompt-queued', text: content }]
}
