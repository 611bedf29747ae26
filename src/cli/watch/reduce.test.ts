import { describe, expect, test } from 'vitest'
import { ago, approvalView, crew, noon, sessionView, watchOf } from '../../../test/support/watch-views.ts'
import type { SessionView } from '../../contract/session-views.ts'
import { graphemes } from '../render/graphemes.ts'
import type { Effect, WatchModel } from './model.ts'
import { reduce } from './reduce.ts'
import { isNews } from './selection.ts'

/** Presses keys; answers the model and all that was wanted on the way. */
function press(model: WatchModel, ...keys: string[]): { model: WatchModel; effects: Effect[] } {
  const effects: Effect[] = []
  let now = model
  for (const key of keys) {
    const step = reduce(now, { kind: 'key', key })
    now = step.model
    effects.push(...step.effects)
  }
  return { model: now, effects }
}

const load = (model: WatchModel, sessions: readonly SessionView[], approvals = model.approvals): WatchModel =>
  reduce(model, { kind: 'loaded', sessions, hidden: 0, approvals }).model
const nameOf = (model: WatchModel): string | null | undefined =>
  model.rows.find(({ session }) => session.id === model.selected)?.session.friendly_name
const names = (model: WatchModel) => model.rows.map(({ session }) => session.friendly_name)
const fleet = (count: number) =>
  Array.from({ length: count }, (_, i) => sessionView(i, { created_at: ago(9000 - i) }))

describe('moving', () => {
  test('j, k, arrows, pages, first and last move the cursor and keep it on the screen', () => {
    const model = watchOf({ sessions: fleet(200) })
    expect(nameOf(press(model, 'j', '<down>', 'j', 'k', '<up>').model)).toBe('engineer-1')
    expect(nameOf(press(model, 'G').model)).toBe('engineer-199')
    expect(press(model, 'G').model.offset).toBe(200 - 16)
    expect(nameOf(press(model, 'G', 'g').model)).toBe('engineer-0')
    expect(nameOf(press(model, '<pagedown>').model)).toBe('engineer-15')
    expect(nameOf(press(model, '<pagedown>', '<pageup>', 'k').model)).toBe('engineer-0')
    const { offset } = press(model, ...Array.from({ length: 50 }, () => 'j')).model
    expect(offset).toBe(50 - 15)
  })

  test('the cursor stays on its session when the order changes', () => {
    const sessions = fleet(30)
    const { model } = press(watchOf({ sessions }), 'j', 'j', 'j')
    expect(nameOf(model)).toBe('engineer-3')
    const moved = load(
      model,
      sessions.map((one, i) => (i > 20 ? { ...one, status: 'waiting_input' as const } : one)),
    )
    expect(names(moved).slice(0, 2)).toEqual(['engineer-21', 'engineer-22'])
    expect(nameOf(moved)).toBe('engineer-3')
  })

  test('news at the top stays in view when the cursor sinks; the first key then only brings it back', () => {
    const sessions = fleet(40)
    const sunk = load(
      watchOf({ sessions }),
      sessions.map((one, i) => (i > 0 ? { ...one, status: 'waiting_input' as const } : one)),
    )
    expect([nameOf(sunk), sunk.offset]).toEqual(['engineer-0', 0])
    const back = press(sunk, 'i')
    expect(back.effects).toEqual([])
    expect([nameOf(back.model), back.model.offset]).toEqual(['engineer-0', 40 - 16])
    expect(press(back.model, 'i').effects).toHaveLength(1)
    expect(nameOf(press(sunk, '<tab>').model)).toBe('engineer-1')
  })

  test('when its session is gone, the cursor is where that one stood', () => {
    const sessions = fleet(5)
    const { model } = press(watchOf({ sessions }), 'j', 'j')
    expect(nameOf(load(model, sessions.toSpliced(2, 1)))).toBe('engineer-3')
    expect(nameOf(load(press(model, 'G').model, sessions.slice(0, 2)))).toBe('engineer-1')
    expect(load(model, []).selected).toBeUndefined()
  })

  test('Tab goes round those who wait', () => {
    const sessions = fleet(9).map((one, i) =>
      i % 4 === 0 ? { ...one, waiting_for: 'question' as const, last_activity_at: ago(100 - i) } : one,
    )
    const model = press(watchOf({ sessions }), 'G').model
    const visited = [1, 2, 3, 4].map((times) =>
      nameOf(press(model, ...Array.from({ length: times }, () => '<tab>')).model),
    )
    expect(visited).toEqual(['engineer-0', 'engineer-4', 'engineer-8', 'engineer-0'])
    expect(press(watchOf({ sessions: fleet(2) }), '<tab>').model.note?.text).toBe(
      'no session is waiting for you',
    )
  })

  test('a smaller terminal keeps the cursor on the screen', () => {
    const { model } = press(
      watchOf({ sessions: fleet(50) }, { columns: 80, rows: 40 }),
      ...Array.from({ length: 25 }, () => 'j'),
    )
    const small = reduce(model, { kind: 'resize', size: { columns: 80, rows: 12 } }).model
    const at = small.rows.findIndex(({ session }) => session.id === small.selected)
    expect(at).toBeGreaterThanOrEqual(small.offset)
    expect(at).toBeLessThan(small.offset + 8)
  })
})

describe('folding and searching', () => {
  test('f folds a parent, or the parent of a leaf, and unfolds it again', () => {
    const model = watchOf(crew())
    expect(names(model)).toEqual(['lead', 'api', 'web', 'docs', 'nightly', 'migrate-billing'])
    const folded = press(model, 'j', 'j', 'f').model
    expect(names(folded)).toEqual(['lead', 'nightly', 'migrate-billing'])
    expect(nameOf(folded)).toBe('lead')
    expect(folded.rows[0]?.below).toEqual({ count: 3, blocked: 1, trouble: 0 })
    expect(names(press(folded, 'f').model)).toEqual(names(model))
    expect(names(press(folded, '<right>').model)).toEqual(names(model))
    expect(names(press(folded, '<left>').model)).toEqual(names(folded))
  })

  test('/ shows what fits with its parents as context while one types; Enter keeps it, Esc clears it', () => {
    const typing = press(watchOf(crew()), '/', ...graphemes('login form')).model
    expect(typing.rows.map(({ session, isContext }) => [session.friendly_name, isContext])).toEqual([
      ['lead', true],
      ['web', false],
    ])
    const kept = press(typing, '<enter>').model
    expect([kept.mode.kind, kept.filter]).toEqual(['list', 'login form'])
    expect(press(kept, '<esc>').model.rows).toHaveLength(6)
    expect(press(typing, '<esc>').model.rows).toHaveLength(6)
    expect(names(press(typing, '<c-u>').model)).toHaveLength(6)
  })

  test('the letters of a search are no commands', () => {
    const { model, effects } = press(watchOf(crew()), '/', ...graphemes('qxi yn'))
    expect(effects).toEqual([])
    expect(model.filter).toBe('qxi yn')
  })
})

describe('replying', () => {
  test('[MUS-238] Space, a line and Enter send it to the session that was selected', () => {
    const { model, effects } = press(watchOf(crew()), 'j', ' ', ...graphemes('Größe 日本 ok'), '<enter>')
    expect(effects).toEqual([
      { kind: 'send', id: crew().sessions[4]?.id, name: 'api', text: 'Größe 日本 ok' },
    ])
    expect(model.mode.kind).toBe('list')
    expect(press(watchOf(crew()), ' ', 'x', '<esc>').effects).toEqual([])
    expect(press(watchOf(crew()), ' ', ' ', '<enter>').effects).toEqual([])
  })

  test('a paste goes into the line without its line ends, and nowhere else', () => {
    const replying = press(watchOf(crew()), ' ').model
    const pasted = reduce(replying, { kind: 'paste', text: 'one\ntwo\r\n' }).model
    expect(press(pasted, '<enter>').effects).toEqual([expect.objectContaining({ text: 'one two' })])
    const list = watchOf(crew())
    expect(reduce(list, { kind: 'paste', text: 'xxq' })).toEqual({ model: list, effects: [] })
  })

  test('the order may change while one types; the line still goes to whom it was meant for', () => {
    const typing = press(watchOf(crew()), ' ', 'h', 'i').model
    const moved = load(
      typing,
      crew().sessions.filter(({ friendly_name }) => friendly_name !== 'lead'),
    )
    expect(press(moved, '<enter>').effects).toEqual([expect.objectContaining({ name: 'lead', text: 'hi' })])
  })
})

describe('ending and interrupting', () => {
  test('[MUS-238] x asks once, x again ends it, and any other key keeps it', () => {
    const model = watchOf(crew())
    expect(press(model, 'x').effects).toEqual([])
    expect(press(model, 'x', 'x').effects).toEqual([
      { kind: 'kill', id: crew().sessions[5]?.id, name: 'lead' },
    ])
    const kept = press(model, 'x', 'j')
    expect(kept.effects).toEqual([])
    expect(nameOf(kept.model)).toBe('lead')
    expect(press(kept.model, 'x').effects).toEqual([])
  })

  test('[MUS-238] i interrupts, Enter attaches, q and Ctrl-C leave', () => {
    const model = watchOf(crew())
    expect(press(model, 'i').effects).toMatchObject([{ kind: 'interrupt', name: 'lead' }])
    expect(press(model, '<enter>').effects).toMatchObject([{ kind: 'attach', name: 'lead' }])
    expect(press(model, 'q').effects).toEqual([{ kind: 'quit' }])
    expect(press(model, '<c-c>').effects).toEqual([{ kind: 'quit' }])
    expect(press(model, '<c-z>').effects).toEqual([{ kind: 'suspend' }])
    expect(
      press(watchOf({ sessions: [] }), 'x', 'x', ' ', 'y', '<enter>', 'e', 'o', 'f', 'i').effects,
    ).toEqual([])
  })
})

describe('what has ended', () => {
  test('is new until a key was pressed with the cursor on it', () => {
    const model = watchOf(crew())
    const docs = crew().sessions[2] as SessionView
    expect(isNews(model, docs)).toBe(true)
    expect(isNews(press(model, 'j', 'j').model, docs)).toBe(true)
    expect(isNews(press(model, 'j', 'j', 'j').model, docs)).toBe(false)
  })

  test('an end under a resting cursor stays new until somebody is there', () => {
    const running = sessionView(1)
    const done = { ...running, status: 'completed' as const, completed_at: ago(1) }
    const model = load(watchOf({ sessions: [running] }), [done])
    expect(isNews(reduce(model, { kind: 'tick', now: noon + 5000 }).model, done)).toBe(true)
    expect(isNews(press(model, 'j').model, done)).toBe(false)
  })

  test('leaves the list when it is gone and seen and the cursor moves on; one that still runs stays', () => {
    const [first, second, third] = [sessionView(3), sessionView(2), sessionView(1)] as const
    const gone = { ...third, status: 'killed' as const, completed_at: ago(1), is_alive: false }
    const model = watchOf({ sessions: [first, second, gone] })
    const seen = press(model, 'G').model
    expect(names(seen)).toHaveLength(3)
    expect(names(press(seen, 'k').model)).toHaveLength(2)
    const alive = press(watchOf({ sessions: [first, second, { ...gone, is_alive: true }] }), 'G', 'k').model
    expect(names(alive)).toHaveLength(3)
  })

  test('a session that was reopened and ends again is new again', () => {
    const done = sessionView(1, { status: 'completed', completed_at: ago(100) })
    const seen = press(watchOf({ sessions: [done] }), 'j').model
    expect(isNews(seen, done)).toBe(false)
    expect(isNews(seen, { ...done, completed_at: ago(1) })).toBe(true)
  })
})

describe('deciding', () => {
  const asking = (more: Parameters<typeof approvalView>[1] = {}) => {
    const session = sessionView(1, { pending_approvals: 1, waiting_for: 'permission' })
    return watchOf({ sessions: [session], approvals: [approvalView(session, more)] })
  }
  const id = 'apr_00000001'

  test('[MUS-238] the first y or n only shows the card; then y, s, a and n decide', () => {
    expect(press(asking(), 'y').effects).toEqual([])
    expect(press(asking(), 'n').effects).toEqual([])
    expect(press(asking(), 'y', 'y').effects).toEqual([
      { kind: 'decide', decision: { id, verdict: 'allow', scope: 'once' } },
    ])
    expect(press(asking(), 'y', 's').effects).toMatchObject([{ decision: { scope: 'session' } }])
    expect(press(asking(), 'y', 'a').effects).toMatchObject([{ decision: { scope: 'always' } }])
    expect(press(asking(), 'n', 'n').effects).toEqual([{ kind: 'decide', decision: { id, verdict: 'deny' } }])
    expect(press(asking(), 'y', '<esc>').model.mode.kind).toBe('list')
  })

  test('r denies with a reason', () => {
    expect(press(asking(), 'y', 'r', ...graphemes('use pnpm'), '<enter>').effects).toEqual([
      { kind: 'decide', decision: { id, verdict: 'deny', reason: 'use pnpm' } },
    ])
    expect(press(asking(), 'y', 'r', '<esc>').model.mode.kind).toBe('card')
  })

  test('a high risk wants the same key twice, and anything between disarms it', () => {
    const model = asking({ risk: 'high' })
    expect(press(model, 'y', 'y').effects).toEqual([])
    expect(press(model, 'y', 'y', 'y').effects).toHaveLength(1)
    expect(press(model, 'y', 'y', 's').effects).toEqual([])
    expect(press(model, 'y', 'y', 'j', 'y').effects).toEqual([])
    expect(press(model, 'y', 'n').effects).toHaveLength(1)
  })

  test('what is not offered is not given', () => {
    expect(press(asking({ options: ['approve', 'reject'], subject: 'plan' }), 'y', 'a').effects).toEqual([])
  })

  test('a card that is decided elsewhere closes, so that no key falls on another', () => {
    const open = press(asking(), 'y').model
    const after = load(
      open,
      open.sessions.map((one) => ({ ...one, pending_approvals: 0 })),
      [],
    )
    expect(after.mode.kind).toBe('list')
    expect(press(after, 'y').effects).toEqual([])
    expect(after.note?.text).toMatch(/in the meantime/)
  })

  test('a session that asks nothing says what to do instead', () => {
    expect(press(watchOf({ sessions: [sessionView(1)] }), 'y').model.note?.text).toBe(
      'engineer-1 is not waiting for a decision; Enter attaches, Space replies',
    )
  })

  test('digits answer questions one after the other, marks choose many, and Space takes own words', () => {
    const scope = [
      { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }], isMany: false },
      { question: 'Also?', options: [{ label: 'C' }, { label: 'D' }, { label: 'E' }], isMany: true },
      { question: 'Why?', options: [], isMany: false },
    ]
    const model = asking({ subject: 'question', scope, options: ['A', 'B'], risk: 'low' })
    expect(press(model, 'y', '9', '2').effects).toEqual([])
    const answered = press(
      model,
      'y',
      '2',
      '1',
      '3',
      '2',
      '2',
      '<enter>',
      ' ',
      ...graphemes('because'),
      '<enter>',
    )
    expect(answered.effects).toEqual([
      {
        kind: 'decide',
        decision: { id, verdict: 'allow', answers: { 'Which?': 'B', 'Also?': 'C, E', 'Why?': 'because' } },
      },
    ])
    const unreadable = asking({ subject: 'question', scope: 'odd', action: 'Go?', options: ['Yes', 'No'] })
    expect(press(unreadable, 'y', '2').effects).toMatchObject([{ decision: { answers: { 'Go?': 'No' } } }])
  })
})

describe('overlays and notes', () => {
  test('e and o ask for what they show, and again with each tick while they are open', () => {
    const { model, effects } = press(watchOf(crew()), 'o')
    expect(effects).toMatchObject([{ kind: 'output', name: 'lead' }])
    expect(reduce(model, { kind: 'tick', now: noon + 1000 }).effects).toMatchObject([{ kind: 'output' }])
    const closed = press(model, '<esc>').model
    expect(reduce(closed, { kind: 'tick', now: noon + 1000 }).effects).toEqual([])
    expect(press(watchOf(crew()), 'e').effects).toMatchObject([{ kind: 'explain', name: 'lead' }])
  })

  test('what cannot be shown closes with the reason; what was shown stays', () => {
    const asked = press(watchOf(crew()), 'o').model
    const id = asked.selected ?? ''
    const closed = reduce(asked, { kind: 'untold', id, why: 'it has no terminal' }).model
    expect([closed.mode.kind, closed.note?.text]).toEqual(['list', 'it has no terminal'])
    const shown = reduce(asked, { kind: 'printed', id, lines: ['x'], isAlive: true }).model
    expect(reduce(shown, { kind: 'untold', id, why: 'gone' }).model.mode).toEqual(shown.mode)
  })

  test('a late answer for another overlay is dropped', () => {
    const open = press(watchOf(crew()), 'o').model
    const other = reduce(open, { kind: 'printed', id: 'ses_other', lines: ['x'], isAlive: true }).model
    expect(other).toBe(open)
  })

  test('a note goes after its time', () => {
    const told = reduce(watchOf(crew()), { kind: 'note', tone: 'good', text: 'done' }).model
    expect(reduce(told, { kind: 'tick', now: noon + 5000 }).model.note?.text).toBe('done')
    expect(reduce(told, { kind: 'tick', now: noon + 9000 }).model.note).toBeUndefined()
  })

  test('an answer that says nothing new changes nothing, so that nothing is drawn', () => {
    const model = watchOf(crew())
    expect(reduce(model, { kind: 'loaded', hidden: 0, ...structuredClone(crew()) }).model).toBe(model)
    const changed = crew()
    changed.sessions[0] = { ...(changed.sessions[0] as SessionView), queued_messages: 1 }
    expect(reduce(model, { kind: 'loaded', hidden: 0, ...changed }).model).not.toBe(model)
  })
})
