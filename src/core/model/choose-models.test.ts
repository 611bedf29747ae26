import { describe, expect, test } from 'vitest'
import { builtInProviders, ModelsConfig } from '../../contract/config/model-settings.ts'
import type { ModelStatus } from '../../contract/model-status.ts'
import { chooseModels } from './choose-models.ts'

/** The built-in providers, of which only the named ones can be used. */
const having = (...usable: string[]): ModelStatus[] =>
  [...builtInProviders].map(([provider, { protocol, models }]) => ({
    provider,
    protocol,
    models: provider === 'ollama' ? ['nomic-embed-text', 'qwen3:latest'] : [...models],
    usable: provider === 'scripted' || usable.includes(provider),
    why: usable.includes(provider) ? 'ready' : `no key: set ${provider.toUpperCase()}_API_KEY`,
  }))

type Wish = { agent?: string; override?: string }
const choose = (usable: string[], wish: Wish = {}, config: Record<string, unknown> = {}) => {
  const { models, ...rest } = chooseModels({
    ...wish,
    config: ModelsConfig.parse(config),
    statuses: having(...usable),
  })
  return { models: models.map(({ provider, id }) => `${provider}/${id}`), ...rest }
}
const chosen = (...args: Parameters<typeof choose>) => choose(...args).models[0]

describe('which model', () => {
  test.each([
    ['what was named for the run', { agent: 'opus', override: 'gpt-6-sol' }, 'openai/gpt-6-sol'],
    ['a short name in any case', { agent: 'Opus' }, 'anthropic/claude-opus-5-5'],
    ['a full name', { agent: 'openai/whatever-9' }, 'openai/whatever-9'],
    ['a bare id by its family', { agent: 'claude-old-1' }, 'anthropic/claude-old-1'],
    ['a bare id that a provider lists', { agent: 'qwen3:latest' }, 'ollama/qwen3:latest'],
    ['a model of a server by its usual tag', { agent: 'ollama/qwen3' }, 'ollama/qwen3'],
    ['the default when the agent names none', { agent: 'inherit' }, 'google/gemini-pro-latest'],
    ['the default when nobody names any', {}, 'google/gemini-pro-latest'],
  ])('[MUS-255] %s', (_, wish, model) => {
    const config = { default: 'google/gemini-pro-latest' }
    expect(chosen(['anthropic', 'openai', 'google', 'ollama'], wish, config)).toBe(model)
  })

  test('[MUS-255] without a default it is the first provider that can be used, and the others say why not', () => {
    expect(choose(['openai', 'ollama'])).toEqual({
      models: ['openai/gpt-6-astra'],
      reason: 'ready',
      isNamed: false,
      passedOver: [{ model: 'anthropic', why: 'no key: set ANTHROPIC_API_KEY' }],
    })
    expect(choose(['ollama'])).toMatchObject({
      models: ['ollama/qwen3:latest'],
      reason: 'a model server on this machine',
    })
    expect(chosen(['ollama', 'google'])).toBe('google/gemini-pro-latest')
  })

  test('[MUS-255] the wish of an agent file is passed over when it cannot be had, with the reason', () => {
    expect(choose(['openai'], { agent: 'sonnet' }, { default: 'openai/gpt-6-luna' })).toEqual({
      models: ['openai/gpt-6-luna'],
      reason: 'it is models.default',
      isNamed: true,
      passedOver: [{ model: 'anthropic/claude-sonnet-5-5', why: 'no key: set ANTHROPIC_API_KEY' }],
    })
    expect(choose(['openai'], { agent: 'nonsense' }).passedOver[0]).toEqual({
      model: 'nonsense',
      why: 'there is no such model; write provider/model, or one of sonnet, opus, haiku',
    })
  })

  test('[MUS-255] a provider that lists a name with a slash does not take the place of the one named', () => {
    const statuses = [
      { ...having('anthropic')[0], models: [] } as ModelStatus,
      {
        provider: 'router',
        protocol: 'compatible' as const,
        models: ['anthropic/claude-opus-5-5', 'a/b'],
        usable: true,
        why: '',
      },
    ]
    const first = (override: string) =>
      chooseModels({ override, config: ModelsConfig.parse({}), statuses }).models[0]
    expect(first('opus')).toEqual({ provider: 'anthropic', id: 'claude-opus-5-5' })
    expect(first('a/b')).toEqual({ provider: 'router', id: 'a/b' })
  })

  test('[MUS-253, MUS-255] the fallbacks come after the choice, once each, and only those that can be used', () => {
    const config = {
      fallback: [
        'google/gemini-pro-latest',
        'openai/gpt-6-sol',
        'anthropic/claude-opus-5-5',
        'scripted/scripted',
      ],
    }
    const both = choose(['anthropic', 'openai'], { agent: 'opus' }, config)
    expect(both.models).toEqual(['anthropic/claude-opus-5-5', 'openai/gpt-6-sol', 'scripted/scripted'])
    expect(both.passedOver).toEqual([
      { model: 'google/gemini-pro-latest', why: 'no key: set GOOGLE_API_KEY' },
    ])
    expect(choose(['openai'], { agent: 'opus' }, config)).toMatchObject({
      models: ['openai/gpt-6-sol', 'scripted/scripted'],
      reason: 'it is the first of models.fallback that can be used',
    })
  })
})

describe('when nothing can be used', () => {
  test('[MUS-255, MUS-383] the scripted model never answers unasked: it is refused with the ways to a model', () => {
    for (const wish of [{}, { agent: 'sonnet' }])
      expect(() => choose([], wish)).toThrow(
        expect.objectContaining({
          code: 'failed',
          message: expect.stringContaining('no model here'),
          details: {
            passedOver: expect.any(Array),
            ways: [
              expect.stringMatching(/^export ANTHROPIC_API_KEY/),
              expect.stringMatching(/^npm install -g/),
              expect.stringMatching(/^ollama/),
              expect.stringMatching(/^sm demo/),
            ],
          },
        }),
      )
  })

  test('[MUS-383] a model that its server does not have is refused with the nearest one', () => {
    expect(() => choose(['ollama'], { override: 'ollama/qwen4:latest' })).toThrow(
      /ollama has no such model; did you mean qwen3:latest/,
    )
  })

  test.each([
    ['for the run', { override: 'opus' }, {}],
    ['for the run, though another could be used', { override: 'opus' }, { fallback: ['scripted/scripted'] }],
    ['as the default', { agent: 'haiku' }, { default: 'anthropic/claude-opus-5-5' }],
  ])('[MUS-255] a model that was named %s is refused with what to set', (_, wish, config) => {
    expect(() => choose([], wish, config)).toThrow(
      expect.objectContaining({
        code: 'failed',
        message: expect.stringMatching(/claude-opus-5-5: no key: set ANTHROPIC_API_KEY.*sm models/),
      }),
    )
  })

  test('[MUS-255] a name that is none, and a provider that is none, are refused with the known ones', () => {
    expect(() => choose(['openai'], { override: 'nonsense' })).toThrow(/nonsense: there is no such model/)
    expect(() => choose(['openai'], { override: 'acme/x-1' })).toThrow(
      /no provider acme; add it to models.prov/,
    )
    expect(() => choose(['openai'], { override: 'constructor' })).toThrow(/there is no such model/)
  })

  test('[MUS-255] the scripted model can be named like any other', () => {
    expect(choose(['openai'], { override: 'scripted/scripted' })).toMatchObject({
      models: ['scripted/scripted'],
      reason: 'it was named for this run',
    })
  })
})
