import * as z from 'zod'
import { GivenName } from './names.ts'

const ModelName = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\/[^\s/]\S*$/,
    'a model is written as provider/model, such as anthropic/claude-opus-5-5',
  )

/** The wire protocols that models are spoken to in. */
export const ModelProtocol = z.enum(['anthropic', 'openai', 'google', 'compatible'])

const Provider = z.strictObject({
  protocol: ModelProtocol.optional().describe(
    'What the provider speaks: anthropic (Messages), openai (Responses), google (Gemini), or compatible (Chat Completions, which most others offer). Only a built-in provider may leave it out.',
  ),
  base_url: z
    .string()
    .max(2048)
    .regex(
      /^https?:\/\/[^\s?#@]+$/,
      'an address that begins with http:// or https://, without user, password or query; a key belongs in key_env or keyring',
    )
    .optional()
    .describe('Address of the API with its version, such as https://models.example/v1.'),
  key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable')
    .optional()
    .describe("Variable of the daemon's environment that holds the key."),
  keyring: z
    .string()
    .max(400)
    .regex(/^[^\s/-][^/\n]*\/[^\s-][^\n]*$/, 'service/account, as the key was stored')
    .optional()
    .describe(
      'Where the keyring of the system has the key, as service/account; it is asked when the variable is not set.',
    ),
  models: z
    .array(z.string().min(1).max(200))
    .max(500)
    .optional()
    .describe('Ids of its models; the first is used when no other is named.'),
  context_tokens: z
    .int()
    .min(1000)
    .max(100_000_000)
    .optional()
    .describe(
      'Context window of its models in tokens; by default that of the runtime. Local models often have a smaller one.',
    ),
})

const dollars = z.number().nonnegative().max(1_000_000)

const OwnPrice = z.strictObject({
  input: dollars.describe('Dollars for a million tokens of input.'),
  output: dollars.describe('Dollars for a million tokens of output.'),
  cache_read: dollars
    .optional()
    .describe('Dollars for a million tokens read from the cache; by default those of input.'),
  cache_write: dollars
    .optional()
    .describe('Dollars for a million tokens written to the cache; by default those of input.'),
})

const Providers = z.record(GivenName, Provider).superRefine((providers, ctx) => {
  for (const [name, provider] of Object.entries(providers)) {
    const missing = (message: string) => ctx.addIssue({ code: 'custom', path: [name], message })
    const { protocol, base_url, key_env, keyring } = { ...builtInProviders.get(name), ...provider }
    if (name === 'scripted') missing('the scripted model is built in and cannot be configured')
    else if (protocol === undefined)
      missing(`protocol is missing; expected ${ModelProtocol.options.join(', ')}`)
    else if (protocol === 'compatible' && base_url === undefined)
      missing('base_url is missing; a compatible provider is reached by its address')
    else if (base_url === undefined && key_env === undefined && keyring === undefined)
      missing('key_env or keyring is missing; this provider needs a key')
  }
})

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
    ollama: { protocol: 'compatible', base_url: 'http://127.0.0.1:11434/v1', models: [], isLocal: true },
    lmstudio: { protocol: 'compatible', base_url: 'http://127.0.0.1:1234/v1', models: [], isLocal: true },
    llamacpp: { protocol: 'compatible', base_url: 'http://127.0.0.1:8080/v1', models: [], isLocal: true },
    scripted: { protocol: 'anthropic', models: ['scripted'] },
  }),
)

/** Which models built-in agents may be run with, and how they are reached. */
export const ModelsConfig = z
  .strictObject({
    default: ModelName.optional().describe(
      'Model of agents that name none; without it, the first usable provider decides.',
    ),
    fallback: z
      .array(ModelName)
      .max(20)
      .default([])
      .describe('Models that are tried in this order when the chosen one is not available.'),
    timeout_seconds: z
      .int()
      .min(1)
      .max(3600)
      .default(120)
      .describe(
        'Longest silence of a model, before its first token and between two; after that the call has failed.',
      ),
    retry: z
      .strictObject({
        max_attempts: z.int().min(1).max(100).default(6).describe('Number of tries of one call.'),
        first_ms: z.int().min(1).max(600_000).default(1000).describe('Milliseconds before the second try.'),
        longest_ms: z
          .int()
          .min(1)
          .max(3_600_000)
          .default(60_000)
          .describe(
            'Maximum milliseconds between two tries; if a provider asks for a longer wait, the call fails.',
          ),
      })
      .prefault({})
      .describe('How a call that failed temporarily is retried, with waits that double.'),
    aliases: z
      .record(GivenName, ModelName)
      .default({
        sonnet: 'anthropic/claude-sonnet-5-5',
        opus: 'anthropic/claude-opus-5-5',
        haiku: 'anthropic/claude-haiku-5-5',
      })
      .describe('Short names of models, as agent files and `--model` use them.'),
    prices: z
      .record(z.string().min(1).max(200), OwnPrice)
      .default({})
      .describe(
        'Prices of models by name, before those of the shipped list; `*` stands for any characters. They are used for budgets and costs of every agent that does not report its cost itself.',
      ),
    providers: Providers.default({}).describe(
      `Providers by name. ${[...builtInProviders.keys()].join(', ')} are built in; what is written here changes them or adds others.`,
    ),
  })
  .prefault({})
  .describe('Models of built-in agents, and how they are reached.')

export type ModelsConfig = z.infer<typeof ModelsConfig>

export type ModelProtocol = z.infer<typeof ModelProtocol>

/** A provider that is known without being written down. */
type BuiltInProvider = {
  readonly protocol: ModelProtocol
  readonly base_url?: string
  readonly key_env?: string
  readonly keyring?: string
  readonly models: readonly string[]
  /** Whose model a bare id is. */
  readonly family?: RegExp
  /** A server that may run on this machine; once a person writes it down it is a provider like any other. */
  readonly isLocal?: true
}

/** A provider with everything that is known of it; no models means that it must be asked. */
export type ProviderSettings = Omit<BuiltInProvider, 'isLocal'> & {
  readonly name: string
  /** It is tried at its usual address though nobody named it. */
  readonly isGuessed: boolean
}

/** The providers in force: the built-in ones with what was written over them, then the others. */
export function providersOf({ providers }: Pick<ModelsConfig, 'providers'>): ProviderSettings[] {
  const names = new Set([...builtInProviders.keys(), ...Object.keys(providers)])
  return [...names].map((name) => {
    const { protocol, base_url, key_env, keyring, models } = providers[name] ?? {}
    const { isLocal, ...builtIn }: Partial<BuiltInProvider> = builtInProviders.get(name) ?? {}
    const spoken = protocol ?? builtIn.protocol ?? 'compatible'
    const address = base_url ?? builtIn.base_url ?? builtInProviders.get(spoken)?.base_url
    return {
      name,
      ...builtIn,
      protocol: spoken,
      models: models ?? builtIn.models ?? [],
      isGuessed: isLocal === true && providers[name] === undefined,
      ...(address !== undefined && name !== 'scripted' && { base_url: address }),
      ...(key_env !== undefined && { key_env }),
      ...(keyring !== undefined && { keyring }),
    }
  })
}
