import { expect, test } from 'vitest'
import { geminiDialect } from '../../adapters/gemini/gemini-cli.ts'
import type { Signal } from '../../contract/signal.ts'
import type { Approvals } from './approvals.ts'
import { answerHook } from './hooks.ts'
import type { Parts } from './session-parts.ts'
import type { Live } from './sessions.ts'

test('[MUS-348] where a hook ends an interrupted turn like any other, the record has its say first, also when the hook hangs up', async () => {
  const gone = new AbortController()
  const order: string[] = []
  const live = {
    watch: {
      state: () => undefined,
      take: async (signals: readonly Signal[]) => order.push(...signals.map(({ kind }) => kind)),
    },
    transcript: {
      answered: async () => {
        order.push('record')
        gone.abort()
        throw new DOMException('hung up', 'AbortError')
      },
      settled: async () => {},
      poke: () => {},
    },
  } as unknown as Live
  const parts = { clis: { gemini: { dialect: geminiDialect } } } as unknown as Parts
  const payload = { hook_event_name: 'AfterAgent', prompt_response: 'half an ans' }
  await answerHook(
    { parts, live, approvals: {} as Approvals },
    { cli: 'gemini', payload, at: 1 },
    gone.signal,
  )
  expect(order).toEqual(['record', 'turn-end'])
})
