import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import { answeringMs } from '../../contract/question-answers.ts'
import type { MessageView } from '../../contract/session-views.ts'
import { attachPlan, runHere } from '../attach-terminal.ts'
import type { Io } from '../io.ts'
import { renderDecision } from '../render/approvals.ts'
import { isTaken, renderSent } from '../render/messages.ts'
import type { Effect, Input } from './model.ts'

/** What effects act with. */
export type Hands = {
  readonly client: Client
  readonly io: Io
  /** Gives the terminal to another program while it runs. */
  readonly lend: <T>(run: () => Promise<T>) => Promise<T>
  readonly tell: (input: Input) => void
}

/** An effect that asks or tells the daemon something. */
export type DaemonEffect = Exclude<Effect, { kind: 'quit' | 'suspend' | 'redraw' }>

// Ending one takes its grace period, and there may be a tree of them.
const longestKillMs = 120_000
const receiptMs = 10_000
const printedLines = 500

/** Does what was asked for and tells what came of it; a refusal is told, never thrown. */
export async function perform(effect: DaemonEffect, hands: Hands): Promise<void> {
  try {
    await performed(effect, hands)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isLook = effect.kind === 'explain' || effect.kind === 'output'
    hands.tell(
      isLook
        ? { kind: 'untold', id: effect.id, why: error.message }
        : { kind: 'note', tone: 'bad', text: error.message },
    )
  }
}

async function performed(effect: DaemonEffect, hands: Hands): Promise<void> {
  const { client, io, tell } = hands
  const { signal } = io
  const good = (text: string): void => tell({ kind: 'note', tone: 'good', text })
  switch (effect.kind) {
    case 'attach':
      return attach(effect.id, hands)
    case 'chat':
      return chat(effect.id, hands)
    case 'send':
      return send(effect, hands)
    case 'decide':
      return good(
        renderDecision(await client.decideApproval(effect.decision, { signal, timeoutMs: answeringMs })),
      )
    case 'interrupt':
      await client.interruptSession({ id: effect.id }, { signal })
      return good(`${effect.name} was interrupted`)
    case 'kill': {
      const {
        killed,
        left,
        suspects = [],
      } = await client.killSession(
        { id: effect.id, reason: 'ended in sm watch' },
        { signal, timeoutMs: longestKillMs },
      )
      const below = killed.length > 1 ? ` and ${killed.length - 1} below it` : ''
      const doubt = suspects.length === 0 ? '' : '; something may be left of it, see: sm ps'
      if (left.length === 0) return good(`ended ${effect.name}${below}${doubt}`)
      throw new AppError(
        'failed',
        `${effect.name} ended, but its processes ${left.join(', ')} are still running; see: sm ps`,
      )
    }
    case 'explain':
      tell({
        kind: 'explained',
        id: effect.id,
        explained: await client.explainSession({ id: effect.id }, { signal }),
      })
      return
    case 'output': {
      const { lines, is_alive } = await client.getOutput({ id: effect.id, lines: printedLines }, { signal })
      return tell({ kind: 'printed', id: effect.id, lines, isAlive: is_alive })
    }
  }
}

async function attach(id: string, { client, io, lend, tell }: Hands): Promise<void> {
  const attached = await client.getAttach({ id }, { signal: io.signal })
  const { way, argv } = attachPlan(attached.argv, attached.name, io.env)
  if (way === 'here') return lend(() => runHere(argv, io.env))
  await runHere(argv, io.env)
  if (way === 'window')
    tell({
      kind: 'note',
      tone: 'good',
      text: `${attached.name} is in a new tmux window; Ctrl-Q leaves it`,
    })
}

/** Lends the terminal to a chat with a built-in agent. */
function chat(id: string, { io, lend }: Hands): Promise<void> {
  const { node, entry } = io.program
  return lend(() => runHere([node, entry, 'chat', '--session', id], io.env))
}

/** Sends a line and shows its receipts until its fate is known. */
async function send(
  { id, text }: Extract<Effect, { kind: 'send' }>,
  { client, io, tell }: Hands,
): Promise<void> {
  const until = io.now() + receiptMs
  let message = await client.sendMessage({ id, text }, { signal: io.signal, timeoutMs: answeringMs })
  tell(receipt(message))
  for (let pauseMs = 100; isUnderWay(message) && io.now() < until; pauseMs = Math.min(2 * pauseMs, 2000)) {
    await io.sleep(pauseMs)
    const { state, detail } = message
    message = await client.getMessage({ message: message.message_id }, { signal: io.signal })
    if (message.state !== state || message.detail !== detail) tell(receipt(message))
  }
}

function receipt(message: MessageView): Input {
  const tone = isTaken(message) ? 'good' : message.state === 'failed' ? 'bad' : 'plain'
  return { kind: 'note', tone, text: renderSent(message) }
}

const isUnderWay = (message: MessageView): boolean => !isTaken(message) && message.state !== 'failed'
