import * as z from 'zod'
import { GivenName } from './names.ts'
import { builtInProviders, ModelProtocol } from './providers.ts'

const ModelName = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\/[^\s/]\S*$/,
    'a model is written as provider/model, such as anthropic/claude-opus-5-5',
  )

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
      'How much its models read at once; without it that of the runtime. A local model often reads less.',
    ),
})

const Providers = z.record(GivenName, Provider).superRefine((providers, ctx) => {
  for (const [name, provider] of Object.entries(providers)) {
    const missing = (message: string) => ctx.addIssue({ code: 'custom', path: [name], message })
    const { protocol, base_url, key_env, keyring } = { ...builtInProviders.get(name), ...provider }
    if (name === 'scripted') missing('the scripted model is built in and cannot be set up otherwise')
    else if (protocol === undefined)
      missing(`protocol is missing; expected ${ModelProtocol.options.join(', ')}`)
    else if (protocol === 'compatible' && base_url === undefined)
      missing('base_url is missing; a compatible provider is reached by its address')
    else if (base_url === undefined && key_env === undefined && keyring === undefined)
      missing('key_env or keyring is missing; this provider wants a key')
  }
})

/** Which models our own agents may be run with, and how they are reached. */
export const ModelsConfig = z
  .strictObject({
    default: ModelName.optional().describe(
      'Model of an agent that names none; without it the first provider that can be used decides.',
    ),
    fallback: z
      .array(ModelName)
      .max(20)
      .default([])
      .describe('Models that are asked in this order when the chosen one cannot be had.'),
    timeout_seconds: z
      .int()
      .min(1)
      .max(3600)
      .default(120)
      .describe(
        'Longest silence of a model, before its first word and between two; then the call has failed.',
      ),
    retry: z
      .strictObject({
        max_attempts: z.int().min(1).max(100).default(6).describe('How often one call is tried.'),
        first_ms: z.int().min(1).max(600_000).default(1000).describe('Milliseconds before the second try.'),
        longest_ms: z
          .int()
          .min(1)
          .max(3_600_000)
          .default(60_000)
          .describe(
            'Most milliseconds between two tries; a provider that asks for a longer wait is not waited for.',
          ),
      })
      .prefault({})
      .describe('How a call that failed in passing is tried again, with waits that double.'),
    aliases: z
      .record(GivenName, ModelName)
      .default({
        sonnet: 'anthropic/claude-sonnet-5-5',
        opus: 'anthropic/claude-opus-5-5',
        haiku: 'anthropic/claude-haiku-5-5',
      })
      .describe('Short names of models, as agent files and `--model` use them.'),
    providers: Providers.default({}).describe(
      `Providers by name. ${[...builtInProviders.keys()].join(', ')} are built in; what is written here changes them or adds others.`,
    ),
  })
  .prefault({})
  .describe('Models of the agents that Muster runs itself, and how they are reached.')
export type ModelsConfig = z.infer<typeof ModelsConfig>
