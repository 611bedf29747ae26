import {
  type ModelsConfig,
  type ProviderSettings,
  providersOf,
} from '../../contract/config/model-settings.ts'
import { demonstrationCast, demonstrationScript } from '../../contract/demonstration.ts'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { ModelStatus } from '../../contract/model-status.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Models } from '../../ports/model.ts'
import { askModels } from './ask-models.ts'
import { findKey, type KeySource } from './find-key.ts'
import { hideKey } from './hide-key.ts'
import type { ScriptedModel } from './scripted/scripted-model.ts'

/** What the models are built from. */
export type ModelsSource = {
  readonly config: ModelsConfig
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Whose keyring is asked; this machine's when left out. */
  readonly platform?: NodeJS.Platform
}

/**
 * Opens the models of a configuration; keys are looked up when one is opened and kept nowhere. What
 * speaks to providers is loaded then too: a daemon that runs no agent of its own does not carry it.
 */
export function openModels({ config, env, clock, platform = process.platform }: ModelsSource): Models {
  const closing = new AbortController()
  const providers = providersOf(config)
  const source = { env, clock, platform, signal: closing.signal }
  let scripted: Promise<ScriptedModel> | undefined
  return {
    async list(signal) {
      using request = linked(signal)
      closing.signal.addEventListener('abort', () => request.abort(), { once: true, signal: request.signal })
      return await Promise.all(providers.map((one) => statusOf(one, { ...source, signal: request.signal })))
    },
    async open({ provider: name, id }) {
      closing.signal.throwIfAborted()
      const provider = providers.find((one) => one.name === name)
      if (!provider) {
        const known = providers.map((one) => one.name).join(', ')
        throw new AppError(
          'invalid',
          `no provider ${name}; use one of ${known}, or add it to models.providers`,
        )
      }
      const found = await findKey(provider, source)
      if (found.key === undefined) throw new AppError('unavailable', `${name}/${id}: ${found.why}`)
      if (name === 'scripted') scripted ??= startScripted(clock)
      const { sdkModel } = await import('./sdk/sdk-model.ts')
      const baseUrl = name === 'scripted' ? `${(await scripted)?.url}/v1` : provider.base_url
      const model = sdkModel({
        provider: name,
        protocol: provider.protocol,
        id,
        ...(baseUrl !== undefined && { baseUrl }),
        apiKey: found.key,
        timeoutMs: config.timeout_seconds * 1000,
        clock,
      })
      return hideKey(model, found.key)
    },
    async close() {
      closing.abort(new AppError('unavailable', 'the models are closed'))
      const running = scripted
      scripted = undefined
      await (await running)?.close()
    },
  }
}

async function startScripted(clock: Clock): Promise<ScriptedModel> {
  const { startScriptedModel } = await import('./scripted/scripted-model.ts')
  return startScriptedModel({ clock, scenarios: { [demonstrationScript]: demonstrationCast } })
}

async function statusOf(provider: ProviderSettings, source: KeySource): Promise<ModelStatus> {
  const { name, protocol, base_url, models } = provider
  const known = { provider: name, protocol, models: [...models] }
  const no = (why: string): ModelStatus => ({ ...known, usable: false, why })
  if (name === 'scripted')
    return { ...known, usable: true, why: 'ready: it answers from a script; no model is called' }
  const found = await findKey(provider, source)
  if (found.key === undefined) return no(found.why)
  // What is far away is not asked: the answer would take long and say little more than that there is a key.
  if (protocol !== 'compatible' || base_url === undefined)
    return { ...known, usable: true, why: `ready: ${found.from}` }
  const asked = await askModels({ baseUrl: base_url, key: found.key }, source)
  if (asked.models === undefined) return no(asked.why)
  const there = models.length > 0 ? [...models] : [...asked.models]
  if (there.length === 0)
    return no(`it has no models; download one, or name them in models.providers.${name}.models`)
  return { ...known, models: there, usable: true, why: `ready: ${found.from}` }
}
