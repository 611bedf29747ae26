import { expect, test } from 'vitest'
import { builtInProviders, ModelsConfig } from '../../contract/config/model-settings.ts'
import type { ModelStatus } from '../../contract/model-status.ts'
import { type CliFact, chooseWorker, needsClis, type WorkerWish } from './choose-worker.ts'

const statuses = (...usable: string[]): ModelStatus[] =>
  [...builtInProviders].map(([provider, { protocol, models }]) => ({
    provider,
    protocol,
    models: protocol === 'compatible' ? ['qwen3'] : [...models],
    usable: provider === 'scripted' || usable.includes(provider),
    why: usable.includes(provider) ? `ready: key from ${provider}` : 'no key',
  }))

const fact = (name: CliFact['name'], state: CliFact['state']): CliFact => ({ name, state, detail: state })

const choose = (usable: string[], clis: CliFact[], wish: Partial<WorkerWish> = {}) =>
  chooseWorker({ config: ModelsConfig.parse({}), statuses: statuses(...usable), clis, ...wish })

const both = [fact('claude', 'out'), fact('codex', 'in')]

test.each([
  [
    'what was named',
    ['openai', 'ollama'],
    { override: 'ollama/qwen3' },
    'own',
    /^ollama\/qwen3 answers: it was named/,
  ],
  ['a CLI that was named', ['openai'], { cli: 'codex' }, 'codex', /^Codex does it: it was named/],
  ['a program of the settings', ['openai'], { cli: 'shell' }, 'shell', /^shell does it/],
  ['a provider with a key', ['openai', 'ollama'], {}, 'own', /^openai\/gpt-6-astra answers: key from openai/],
  ['a CLI that is logged in', ['ollama'], {}, 'codex', /no provider has a key, and Codex is logged in/],
  [
    'built-in agents, when they were named',
    ['ollama'],
    { cli: 'own' },
    'own',
    /^ollama\/qwen3 answers: a model server/,
  ],
  ['the scripted model by its name', [], { override: 'scripted' }, 'own', /^scripted\/scripted answers/],
] as const)('[MUS-383] %s', (_, usable, wish, cli, why) => {
  const chosen = choose([...usable], both, wish)
  expect(chosen.cli).toBe(cli)
  expect(chosen.why).toMatch(why)
})

test('[MUS-383] a local server comes after a CLI, and with nothing it is refused with the three shortest ways', () => {
  expect(choose(['lmstudio'], [fact('claude', 'out')]).why).toMatch(
    /^lmstudio\/qwen3 answers: a model server/,
  )
  const refused = (clis: CliFact[]) => {
    try {
      choose([], clis)
    } catch (error) {
      return error as { code: string; details: { ways: string[] } }
    }
    throw new Error('somebody was chosen')
  }
  expect(refused([]).code).toBe('failed')
  expect(refused([]).details.ways).toHaveLength(4)
  expect(refused([fact('claude', 'out')]).details.ways[1]).toMatch(/^claude {2}is installed; .* log in/)
  expect(refused([fact('gemini', 'unknown')]).details.ways[1]).toMatch(/^--cli gemini /)
})

test('[MUS-383] a CLI that was named is refused where it is missing; what it says of its login is told and refuses nothing', () => {
  expect(() => choose(['openai'], [fact('codex', 'missing')], { cli: 'codex' })).toThrow(
    /Codex cannot work here/,
  )
  expect(choose(['openai'], [fact('codex', 'out')], { cli: 'codex' })).toMatchObject({
    cli: 'codex',
    isNamed: false,
    why: 'Codex does it: it was named, though it is not logged in (out)',
  })
})

test('[MUS-383] CLIs are asked only where the choice depends on them', () => {
  const asks = (usable: string[], wish: Partial<WorkerWish> = {}) =>
    needsClis({ config: ModelsConfig.parse({}), statuses: statuses(...usable), ...wish })
  expect(asks([])).toBe(true)
  expect(asks(['ollama'])).toBe(true)
  expect(asks(['openai'])).toBe(false)
  expect(asks([], { cli: 'own' })).toBe(false)
  expect(asks(['openai'], { cli: 'claude' })).toBe(true)
})
