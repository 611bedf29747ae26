import type { ProviderSettings } from '../../contract/config/model-settings.ts'
import { askProgram } from '../system/run-program.ts'
import { type Deadline, within } from './within.ts'

/** Where keys may come from. */
export type KeySource = Deadline & {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
}

/** The key of a provider and where it was found, or why there is none; one that needs none has an empty one. */
export type FoundKey =
  | { readonly key: string; readonly from: string }
  | { readonly key?: undefined; readonly why: string }

/** A locked keyring asks in a window that nobody may be looking at. */
const keyringMs = 5000

/** Looks for the key of a provider in its variable, then in the keyring; the key itself is in no message. */
export async function findKey(provider: ProviderSettings, source: KeySource): Promise<FoundKey> {
  const { name, key_env, keyring } = provider
  if (key_env === undefined && keyring === undefined) return { key: '', from: 'no key needed' }
  const given = key_env === undefined ? '' : (source.env[key_env] ?? '').trim()
  if (given !== '') return { key: given, from: `key from ${key_env}` }
  if (keyring === undefined) return { why: `no key: set ${key_env} or models.providers.${name}.keyring` }
  const asked = await within(source, keyringMs, (signal) => askKeyring(keyring, { ...source, signal }))
  const found = asked ?? { why: `it did not answer in ${keyringMs / 1000} s; is it locked?` }
  if (found.key !== undefined) return { key: found.key, from: 'key from the keyring' }
  const unset = key_env === undefined ? '' : `${key_env} is not set, and `
  return { why: `no key: ${unset}the keyring (${keyring}): ${found.why}` }
}

async function askKeyring(
  place: string,
  { env, platform, signal }: KeySource,
): Promise<{ key: string } | { key?: undefined; why: string }> {
  const slash = place.indexOf('/')
  const [service, account] = [place.slice(0, slash), place.slice(slash + 1)]
  const [program, args] =
    platform === 'darwin'
      ? (['security', ['find-generic-password', '-s', service, '-a', account, '-w']] as const)
      : (['secret-tool', ['lookup', 'service', service, 'account', account]] as const)
  const answer = await askProgram(program, args, { signal, env })
  if (!answer) return { why: `${program} is not installed` }
  const key = answer.stdout.trim()
  // What it printed is not repeated: it may be half of a secret.
  return answer.code === 0 && key !== '' ? { key } : { why: 'it has no such entry' }
}
