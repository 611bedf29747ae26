import type { AgentCliName } from '../../contract/config/names.ts'
import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import type { Dialog, SignalOf } from '../../contract/signal.ts'
import { dialogText, fitsDialog } from '../../core/approvals/approval-card.ts'
import { draftOf } from './drafts.ts'
import { paneOfWatch, readScreen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

const lookMs = 150
const goneMs = 5000

/** An answer that is to be given in a dialog. */
export type Pressed = {
  readonly watch: SessionWatch
  readonly signal: SignalOf<'asking'>
  readonly decision: Decision
}

/**
 * Answers a dialog by its keys. They are pressed only while the very dialog that asked stands on the screen, looked at
 * twice; and that it went is the receipt.
 */
export async function pressAnswer(parts: Parts, pressed: Pressed, abort: AbortSignal): Promise<void> {
  const { watch, signal, decision } = pressed
  const managed = watch.state()?.managed
  const pane = paneOfWatch(watch)
  const { dialect } = parts.clis[(managed?.cli ?? 'custom') as AgentCliName]
  if (!pane || !dialect.answerKeys)
    throw new AppError('conflict', 'it can be answered only in its terminal: sm attach')
  const look = async (): Promise<Dialog | undefined> =>
    (await readScreen(parts, watch, abort))?.reading.dialog
  const dialog = await look()
  if (!dialog || !fitsDialog(signal, dialog))
    throw new AppError('conflict', 'its dialog is not on the screen now; see: sm attach')
  const keys = dialect.answerKeys(dialog, decision)
  if (!keys)
    throw new AppError(
      'invalid',
      `its dialog has no such answer; it offers: ${dialog.options.join(', ')}. Answer it with: sm attach`,
    )
  const effect = { effectId: `answer:${parts.ids.event()}`, effect: 'answer' }
  const at = { ...watch.root, spanId: parts.ids.span(), parentSpanId: watch.root.spanId }
  const detail = { verdict: decision.verdict, keys: [...keys] }
  await watch.say([draftOf(at, 'effect.intended', { ...effect, target: pane.pane, detail })])
  const failure = isSame(dialog, await look())
    ? await press()
    : new AppError('conflict', 'its dialog has just changed, so no key was pressed; see: sm attach')
  const receipt = failure ? { error: failure.message } : { isGone: true }
  await watch.say([draftOf(at, 'effect.done', { ...effect, receipt })])
  if (failure) throw failure

  async function press(): Promise<AppError | undefined> {
    await parts.terminal.keys(pane as NonNullable<typeof pane>, { keys: keys as readonly string[] }, abort)
    const until = parts.clock.monotonic() + goneMs
    while (parts.clock.monotonic() < until) {
      await parts.clock.sleep(lookMs, abort)
      const now = await look()
      if (!now || dialogText(now) !== dialogText(dialog as Dialog)) return undefined
    }
    return new AppError('unavailable', 'the keys were pressed, but the dialog is still there; see: sm attach')
  }
}

const isSame = (a: Dialog, b: Dialog | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
