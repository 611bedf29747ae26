import type { Lifecycle } from '../../contract/values.ts'
import { type Evidence, noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import type { JudgeOptions } from '../../core/session/evidence/timeouts.ts'
import { judge, type Verdict } from '../../core/session/evidence/verdict.ts'
import type { AgentCli, ForeignSession, TranscriptMemory } from '../../ports/agent-cli.ts'
import type { LineFiles } from '../../ports/line-files.ts'

const tailBytes = 512 * 1024
const pieceBytes = 1 << 20

const lifecycles = { idle: 'idle', busy: 'running', waiting: 'waiting_input' } as const

/** What is known of one session that runs outside of Muster; all of it can be read again from its own files. */
export class Seen {
  found: ForeignSession
  #evidence: Evidence = noEvidence
  #offset: number | undefined
  readonly #memory: TranscriptMemory = {}

  constructor(found: ForeignSession) {
    this.found = found
  }

  get evidence(): Evidence {
    return this.#evidence
  }

  /** Reads what was added to its record since the last time; of an old record only the end. */
  async read(files: LineFiles, { dialect }: AgentCli): Promise<void> {
    const { transcript } = this.found
    if (transcript === undefined) return
    if (this.#offset === undefined) {
      const whole = await files.read(transcript, 0, 1)
      this.#offset = Math.max(0, (whole?.size ?? 0) - tailBytes)
    }
    const read = await files.read(transcript, this.#offset, pieceBytes)
    for (const { text } of read?.lines ?? [])
      for (const signal of dialect.line(text, { memory: this.#memory }))
        this.#evidence = observe(this.#evidence, signal)
    this.#offset = read?.end ?? this.#offset
  }

  /** What the CLI says of itself counts before anything that its record suggests. */
  verdict(options: JudgeOptions): Verdict {
    const judged = judge(this.#evidence, options)
    const { status } = this.found
    if (status === undefined) return judged
    const isBusy = status === 'busy'
    const { waitingFor: _waitingFor, waitingUntil: _waitingUntil, ...rest } = judged
    return {
      ...rest,
      lifecycle: lifecycles[status],
      activity: isBusy ? (judged.activity === 'idle' ? 'working' : judged.activity) : 'idle',
      ...(status === 'waiting' && { waitingFor: judged.waitingFor ?? ('dialog' as const) }),
      health: 'ok',
    }
  }
}

/** A turn that failed is over: the program waits for the next prompt. */
export const lifecycleOf = ({ lifecycle }: Verdict): Lifecycle => (lifecycle === 'error' ? 'idle' : lifecycle)
