import type { ModelPiece } from '../ports/model.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts, TextStream } from './parts.ts'

/** Passes what a model says on to whoever watches, as it is said. */
export function streamWords(
  { textStream, onToken }: Pick<RuntimeParts, 'textStream' | 'onToken'>,
  run: LiveRun,
): { readonly piece: (piece: ModelPiece) => void; readonly turnEnds: () => void } {
  let streams: { text: TextStream; thinking: TextStream } | undefined
  const say = (kind: 'text' | 'thinking', token: string, isDone = false) => {
    if (token === '' && !isDone) return
    const { sessionId, runId, actor: agentId } = run.root
    onToken({
      sessionId,
      runId,
      agentId,
      token,
      ...(kind === 'thinking' && { thinking: true }),
      ...(isDone && { done: true }),
    })
  }
  return {
    piece(piece) {
      if (piece.kind === 'call') return
      streams ??= { text: textStream(), thinking: textStream() }
      say(piece.kind, streams[piece.kind].push(piece.delta))
    },
    turnEnds() {
      if (!streams) return
      say('thinking', streams.thinking.end())
      say('text', streams.text.end(), true)
      streams = undefined
    },
  }
}
