import type { CallOutput } from './agent-run.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts, TextStream } from './runtime-parts.ts'

const everyMs = 400
const lineChars = 200
/** Of what comes faster than this nothing is shown: to look for secrets in all of it would hold up every run. */
const stretchChars = 64 * 1024
/** As long as a secret of several lines may be that has begun where nobody looked. */
const secretChars = 8192

/** Made once: without a reason each end of a call would make an error that nobody reads. */
const ended = new DOMException('the call has ended', 'AbortError')

type Parts = Pick<RuntimeParts, 'clock' | 'textStream' | 'onOutput' | 'onBug'>

/** Passes the last line that a call has printed on to whoever watches, a few times a second at most. */
export function lastLines(parts: Parts, run: LiveRun, tool: string): CallOutput {
  const { clock, textStream, onOutput, onBug } = parts
  const over = new AbortController()
  const looked = lookedAt(clock)
  let stream: TextStream | undefined
  let whole = ''
  let begun = ''
  let told = ''
  let nextAt = Number.NEGATIVE_INFINITY
  let isWaiting = false

  const take = (text: string): void => {
    const lines = (begun + text).split(/[\r\n]+/)
    begun = (lines.pop() ?? '').trimStart().slice(0, lineChars)
    whole = lines.findLast((line) => line.trim() !== '')?.trimStart() ?? whole
  }
  const say = (): void => {
    const line = oneLine(begun === '' ? whole : begun)
    if (line === '' || line === told || over.signal.aborted) return
    told = line
    nextAt = clock.monotonic() + everyMs
    const { sessionId, runId, actor: agentId } = run.root
    onOutput({ sessionId, runId, agentId, tool, line })
  }
  const sayLater = (ms: number): void => {
    if (isWaiting) return
    isWaiting = true
    clock.sleep(ms, over.signal).then(
      () => {
        isWaiting = false
        safely(say)
      },
      () => {},
    )
  }
  // Thrown where a pipe is read, it would end the daemon.
  const safely = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      over.abort(ended)
      onBug(error, 'the output of a call')
    }
  }
  return {
    push(text) {
      if (over.signal.aborted) return
      safely(() => {
        const seen = looked(text)
        if (seen === undefined) {
          stream = undefined
          begun = whole = ''
          return
        }
        stream ??= textStream()
        take(stream.push(seen.replaceAll(escapes, '')))
        const leftMs = nextAt - clock.monotonic()
        if (leftMs <= 0) say()
        else sayLater(leftMs)
      })
    },
    end: () => over.abort(ended),
  }
}

/** The part of a text that can be looked at; nothing when there is too much of it, and for a while after. */
function lookedAt(clock: Parts['clock']): (text: string) => string | undefined {
  let stretch = { endsAt: Number.NEGATIVE_INFINITY, chars: 0 }
  let unknown: number | undefined
  return (text) => {
    const now = clock.monotonic()
    if (now >= stretch.endsAt) stretch = { endsAt: now + everyMs, chars: 0 }
    stretch.chars += text.length
    if (stretch.chars > stretchChars) {
      unknown = secretChars
      return undefined
    }
    if (unknown === undefined) return text
    // A word that was cut in two is not known for a secret: it begins again with a line.
    const at = text.slice(unknown).search(/[\r\n]/)
    const from = unknown + at + 1
    unknown = at === -1 ? Math.max(0, unknown - text.length) : undefined
    return at === -1 ? undefined : text.slice(from)
  }
}

/** What colours a text and moves the cursor; inside of a secret it would hide it. */
const escapes =
  /(?![\t\r\n])\p{Cc}(?:\[[\d;:<=>?]{0,40}[ -/]{0,4}[@-~]|\]\P{Cc}{0,400}(?:(?![\t\r\n])\p{Cc}\\?)?|[()][0-9A-Z]|[=>78])/gu

const oneLine = (text: string): string =>
  text
    .slice(0, lineChars)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
