import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runs } from '../../test/support/size.ts'
import { accepts } from './accepts.ts'
import { catalogue, DraftEnvelope, eventTypes } from './event.ts'
import { BlobRef, Body } from './values.ts'

const someDraft = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  sessionId: `ses_${'0'.repeat(26)}`,
  runId: `run_${'0'.repeat(26)}`,
  actor: 'x',
  type: 'session.started',
  payload: {},
}

test('[MUS-14] the quick yes never says yes where the schema says no, for every event type', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constantFrom(
      null,
      undefined,
      '',
      'tool',
      'high',
      'approved',
      'x'.repeat(5000),
      -1,
      1.5,
      Number.MAX_VALUE,
    ),
  )
  const anything = fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.string(), leaf), fc.object())
  for (const type of eventTypes) {
    const schema = catalogue[type].payload
    const quick = accepts(schema)
    const names = Object.keys(schema.shape)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names, 'extra'), anything), (value) => {
        if (quick(value)) expect(schema.safeParse(value).success, type).toBe(true)
      }),
      runs(40),
    )
  }
})

test('[MUS-14] the quick yes says yes to what is usual, so that the slow path stays rare', () => {
  const envelope = accepts(DraftEnvelope)
  expect(envelope(someDraft)).toBe(true)
  expect(envelope({ ...someDraft, timestamp: '2026-01-27T15:10:00.123Z', phase: 'audit' })).toBe(true)
  expect(
    accepts(catalogue['tool.call.started'].payload)({
      callId: 'c',
      tool: 'Read',
      category: 'perception',
      params: { a: [1, { b: null }] },
    }),
  ).toBe(true)
  expect(
    accepts(catalogue['llm.request.completed'].payload)({
      responseId: 'r',
      model: 'm',
      usage: { input: 1 },
      costUsd: 0.1,
    }),
  ).toBe(true)
  expect(accepts(Body)('text')).toBe(true)
  expect(
    accepts(BlobRef)({ $blob: `sha256:${'0'.repeat(64)}`, bytes: 1, pack: 1, offset: 0, preview: '' }),
  ).toBe(true)
})

test('[MUS-2][MUS-5][MUS-7] wrong ids, times, fields and types are left to the schema, which refuses them', () => {
  const envelope = accepts(DraftEnvelope)
  for (const wrong of [
    { traceId: '0'.repeat(32) },
    { traceId: 'A'.repeat(32) },
    { spanId: 'b'.repeat(15) },
    { sessionId: 'ses_short' },
    { actor: '' },
    { type: 'no.such' },
    { timestamp: '2026-01-27T15:10:00Z' },
    { timestamp: '2026-01-27T15:10:00.123+01:00' },
    { extra: 1 },
    { payload: undefined, runId: undefined },
  ]) {
    expect(envelope({ ...someDraft, ...wrong }), JSON.stringify(wrong)).toBe(false)
    expect(DraftEnvelope.safeParse({ ...someDraft, ...wrong }).success, JSON.stringify(wrong)).toBe(false)
  }
  expect(envelope(JSON.parse(`{"__proto__":{"a":1}}`))).toBe(false)
  expect(envelope([])).toBe(false)
})

test('[MUS-14] a schema of a kind it does not know is left to zod', () => {
  expect(accepts(z.string().transform(Number))('1')).toBe(false)
  expect(accepts(z.object({ a: z.string() }))({ a: 'loose' })).toBe(false)
  expect(accepts(z.string().refine(() => true))('x')).toBe(false)
})
