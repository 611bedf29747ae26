import { webhook } from '../../adapters/webhook/webhook.ts'
import type { Engine } from '../../engine/engine.ts'
import { notifyWebhook } from '../../engine/reactors/notify-webhook.ts'
import { releaseVault, watchBudget } from '../../engine/reactors/session-reactors.ts'
import { type Base, type Feature, fleetFact, tellDamage } from '../base.ts'

const sweepMs = 60 * 60 * 1000
const bookMs = 60 * 1000
const dayMs = 24 * 60 * 60 * 1000

/**
 * What is done besides, for all sessions alike: budgets, the vault's rooms, redaction counters, the webhook, a look at
 * what was written long ago.
 */
export function housekeeping(base: Base): Feature {
  const { engine, journal, vault, clock, config, onBug } = base
  const writeRedactions = redactionBook(engine)
  const timers: NodeJS.Timeout[] = []
  const every = (ms: number, what: string, work: () => Promise<unknown>): void => {
    const run = (): void => {
      work().catch((error: unknown) => onBug(error, what))
    }
    timers.push(setInterval(run, ms).unref())
  }
  return {
    reactors: [releaseVault(vault), watchBudget(base.budgets), outsideNotice(base)],
    async start() {
      every(sweepMs, 'vault sweep', () => vault.sweep(clock.now() - config.vault.keep_days * dayMs))
      every(bookMs, 'redaction counters', writeRedactions)
      every(config.journal.reread_ms, 'reading the journal again', () => readOneAgain(base))
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      if (journal.health() === 'ok') await writeRedactions()
    },
  }
}

function outsideNotice({ engine, clock, config, options }: Base) {
  const { url, secret_env: secretEnv, timeout } = config.child_agents.notifications.webhook
  const notifier =
    url === undefined ? undefined : webhook({ url, secretEnv, timeoutMs: timeout * 1000, env: options.env })
  return notifyWebhook({ engine, clock, config: () => config, notifier })
}

/** A start compares sizes and headers; a bit that changed inside an old segment is noticed here. */
async function readOneAgain({ journal, engine, options: { onDamage } }: Base): Promise<void> {
  const found = await journal.readOneAgain()
  if (found) await tellDamage([found], { engine, onDamage })
}

/** Writes down what redaction has taken out since the last time, when there was anything. */
function redactionBook(engine: Engine): () => Promise<void> {
  let written: Readonly<Record<string, number>> = {}
  return async () => {
    const now = { ...engine.redactionCounts() }
    const counts = Object.fromEntries(
      Object.entries(now).flatMap(([rule, n]) =>
        n > (written[rule] ?? 0) ? [[rule, n - (written[rule] ?? 0)]] : [],
      ),
    )
    written = now
    if (Object.keys(counts).length === 0) return
    await engine.record([fleetFact({ type: 'redaction.applied', payload: { counts } })])
  }
}
