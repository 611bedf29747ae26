import * as z from 'zod'
import type { ModelsConfig } from './models.ts'

/** The wire protocols that models are spoken to in. */
export const ModelProtocol = z.enum(['anthropic', 'openai', 'google', 'compatible'])
export type ModelProtocol = z.infer<typeof ModelProtocol>

/** A provider that is known without being written down. */
export type BuiltInProvider = {
  readonly protocol: ModelProtocol
  readonly base_url?: string
  readonly key_env?: string
  readonly keyring?: string
  readonly models: readonly string[]
  /** Whose model a bare id is. */
  readonly family?: RegExp
}

/** The built-in providers, in the order in which one is chosen when nobody chose. */
export const builtInProviders: ReadonlyMap<string, BuiltInProvider> = new Map(
  Object.entries<BuiltInProvider>({
    anthropic: {
      protocol: 'anthropic',
      // Written out: the SDK would else take the address from a variable that was meant for another program.
      base_url: 'https://api.anthropic.com/v1',
      key_env: 'ANTHROPIC_API_KEY',
      models: ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'],
      family: /^claude-/,
    },
    openai: {
      protocol: 'openai',
      base_url: 'https://api.openai.com/v1',
      key_env: 'OPENAI_API_KEY',
      models: ['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna'],
      family: /^(gpt-|o\d)/,
    },
    google: {
      protocol: 'google',
      base_url: 'https://generativelanguage.googleapis.com/v1beta',
      key_env: 'GEMINI_API_KEY',
      models: ['gemini-pro-latest', 'gemini-flash-latest'],
      family: /^gemini-/,
    },
    ollama: { protocol: 'compatible', base_url: 'http://127.0.0.1:11434/v1', models: [] },
    scripted: { protocol: 'anthropic', models: ['scripted'] },
  }),
)

/** A provider with everything that is known of it; no models means that it must be asked. */
export type ProviderSettings = BuiltInProvider & { readonly name: string }

/** The providers in force: the built-in ones with what was written over them, then the others. */
export function providersOf({ providers }: Pick<ModelsConfig, 'providers'>): ProviderSettings[] {
  const names = new Set([...builtInProviders.keys(), ...Object.keys(providers)])
  return [...names].map((name) => {
    const { protocol, base_url, key_env, keyring, models } = providers[name] ?? {}
    const builtIn = builtInProviders.get(name)
    const spoken = protocol ?? builtIn?.protocol ?? 'compatible'
    const address = base_url ?? builtIn?.base_url ?? builtInProviders.get(spoken)?.base_url
    return {
      name,
      ...builtIn,
      protocol: spoken,
      models: models ?? builtIn?.models ?? [],
      ...(address !== undefined && name !== 'scripted' && { base_url: address }),
      ...(key_env !== undefined && { key_env }),
      ...(keyring !== undefined && { keyring }),
    }
  })
}
