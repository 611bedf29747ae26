import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ago, approvalView, crew, noon, sessionView, watchOf } from '../../../test/support/watch-views.ts'
import { graphemes } from '../render/graphemes.ts'
import { terminalText } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { reversed } from '../tui/lines.ts'
import { openModel, type WatchModel } from './model.ts'
import { paint } from './paint.ts'
import { reduce } from './reduce.ts'

const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'UTC'
})
afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const press = (model: WatchModel, ...keys: string[]): WatchModel =>
  keys.reduce((one, key) => reduce(one, { kind: 'key', key }).model, model)

/** The lines of a screen as they reach the terminal. */
const drawn = (model: WatchModel): string[] => paint(model).map(terminalText)

/** A screen as people see it; the bar of the cursor is shown as a mark at the right. */
function screen(model: WatchModel): string {
  return drawn(model)
    .map((line) => {
      const text = line.replaceAll(/\p{Cc}\[[0-9;]*m/gu, '').trimEnd()
      return line.includes('\u001b[7m') ? `${text} <` : text
    })
    .join('\n')
}

const wide = { columns: 120, rows: 40 }

describe('the list', () => {
  test('80×24: trees with somebody who waits first, then trouble, then the rest', () => {
    expect(screen(watchOf(crew()))).toBe(`\
 muster  ! 1 needs you  ▲ 1 in trouble  ● 2 running  ○ 1 idle  ✓ 1 ended, 1 new
  SESSION         ID       STATE         AGE  LAST  CTX  TOK   COST TASK
○ lead            00000001 idle        10min 14min  62% 210k  $1.90 Add login w… <
! ├ api           00000002 permission  10min  2min  84%  12k  $0.42 Bash: npm p…
● ├ web           00000003 tool        10min    5s  31% 480k  $3.10 ログイン画…
✓ └ docs          00000004 done        10min  5min  31%  12k  $2.00 new Guide w…
▲ nightly         00000006 limit 15:40 10min   1hr  31%  12k
● migrate-billing 00000005 thinking    10min    5s  31%  12k        bypass Phas…










── lead 00000001 idle ──────────────────────────────────────────────────────────
 task Add login with passkeys
 claude opus · acceptEdits · with all below 1.2M tokens $7.42 · /work/app


 enter attach  space reply  i interrupt  x kill  o peek  / find  ? help  q quit`)
  })

  test('120×40 has room for whole words', () => {
    expect(screen(watchOf(crew(), wide))).toBe(`\
 muster  ! 1 needs you  ▲ 1 in trouble  ● 2 running  ○ 1 idle  ✓ 1 ended, 1 new                              6 sessions
  SESSION         ID       STATE         AGE  LAST  CTX  TOK   COST TASK
○ lead            00000001 idle        10min 14min  62% 210k  $1.90 Add login with passkeys <
! ├ api           00000002 permission  10min  2min  84%  12k  $0.42 Bash: npm publish --access public
● ├ web           00000003 tool        10min    5s  31% 480k  $3.10 ログイン画面 login form ✅
✓ └ docs          00000004 done        10min  5min  31%  12k  $2.00 new Guide written, links checked
▲ nightly         00000006 limit 15:40 10min   1hr  31%  12k
● migrate-billing 00000005 thinking    10min    5s  31%  12k        bypass Phase 2 of 3: backfill running


























── lead 00000001 idle ──────────────────────────────────────────────────────────────────────────────────────────────────
 task Add login with passkeys
 claude opus · acceptEdits · with all below 1.2M tokens $7.42 · /work/app


 enter attach  space reply  i interrupt  x kill  o peek  e explain  f fold  / find  ? help  q quit`)
  })

  test('a screen is always as high and wide as the terminal, with wide characters too', () => {
    for (const size of [
      { columns: 80, rows: 24 },
      { columns: 120, rows: 40 },
      { columns: 43, rows: 17 },
      { columns: 30, rows: 8 },
      { columns: 12, rows: 3 },
    ]) {
      for (const keys of [[], ['f'], ['j', 'y'], ['?'], [' ', 'あ'], ['/', 'web'], ['x'], ['o'], ['e']]) {
        const lines = drawn(press(watchOf(crew(), size), ...keys))
        expect(lines).toHaveLength(size.rows)
        for (const line of lines) {
          const text = line.replaceAll(/\p{Cc}\[[0-9;]*m/gu, '')
          expect(textWidth(text), `${size.columns}: ${text}`).toBeLessThanOrEqual(size.columns)
        }
      }
    }
  })

  test('columns line up under their titles whatever the names and words are', () => {
    const names = ['名前の長いセッション', 'e\u0301te\u0301', '👩‍👩‍👧 family', 'x', 'a'.repeat(60)]
    const sessions = names.map((friendly_name, i) =>
      sessionView(i + 1, { friendly_name, current_task: '✅ 完了 done ⚡ '.repeat(9) }),
    )
    const [, titles = '', ...rows] = drawn(watchOf({ sessions }, { columns: 100, rows: 24 }))
    const at = textWidth(titles.slice(0, titles.indexOf('STATE')))
    for (const row of rows.slice(0, names.length)) {
      const text = row.replaceAll(/\p{Cc}\[[0-9;]*m/gu, '')
      expect(textWidth(text.slice(0, text.indexOf('working')))).toBe(at)
    }
  })

  test('200 sessions scroll, and the title says which part is shown', () => {
    const sessions = Array.from({ length: 200 }, (_, i) => sessionView(i + 1, { created_at: ago(9000 - i) }))
    const model = press(watchOf({ sessions }), ...Array.from({ length: 20 }, () => 'j'))
    expect(screen(model)).toBe(`\
 muster  ● 200 running                                             200 sessions
  SESSION      ID       STATE         AGE  LAST  CTX  TOK TASK      6–21 of 200
● engineer-6   00000006 working       2hr    5s  31%  12k
● engineer-7   00000007 working       2hr    5s  31%  12k
● engineer-8   00000008 working       2hr    5s  31%  12k
● engineer-9   00000009 working       2hr    5s  31%  12k
● engineer-10  0000000a working       2hr    5s  31%  12k
● engineer-11  0000000b working       2hr    5s  31%  12k
● engineer-12  0000000c working       2hr    5s  31%  12k
● engineer-13  0000000d working       2hr    5s  31%  12k
● engineer-14  0000000e working       2hr    5s  31%  12k
● engineer-15  0000000f working       2hr    5s  31%  12k
● engineer-16  00000010 working       2hr    5s  31%  12k
● engineer-17  00000011 working       2hr    5s  31%  12k
● engineer-18  00000012 working       2hr    5s  31%  12k
● engineer-19  00000013 working       2hr    5s  31%  12k
● engineer-20  00000014 working       2hr    5s  31%  12k
● engineer-21  00000015 working       2hr    5s  31%  12k <
── engineer-21 00000015 working ────────────────────────────────────────────────
 claude sonnet · acceptEdits · /work/app



 enter attach  space reply  i interrupt  x kill  o peek  / find  ? help  q quit`)
    expect(screen(press(model, 'G')).split('\n')[17]).toMatch(/engineer-200 .* <$/)
  })

  test('[MUS-146] who may do anything unasked is red and named so', () => {
    const row = drawn(watchOf(crew(), wide, true)).find((line) => line.includes('migrate-billing')) ?? ''
    expect(row).toContain('\u001b[31m\u001b[1mmigrate-billing\u001b[22m\u001b[39m')
    expect(row).toContain('\u001b[31mbypass \u001b[39m')
  })

  test('[MUS-240] one from outside is named so', () => {
    const { sessions, approvals } = crew()
    const seen = sessions.map((session, i) => (i === 0 ? { ...session, origin: 'observed' } : session))
    expect(drawn(watchOf({ sessions: seen, approvals }, wide, false)).join('\n')).toContain('observed ')
    expect(drawn(watchOf(crew(), wide, false)).join('\n')).not.toContain('observed ')
  })

  test('[MUS-114] without colours there is still a bar for the cursor, and nothing else', () => {
    const codes = drawn(watchOf(crew()))
      .join('')
      .match(/\p{Cc}\[[0-9;]*m/gu)
    expect(codes).toEqual(['\u001b[7m', '\u001b[27m'])
  })

  test('a folded parent tells how many are below it and how many of them wait', () => {
    expect(screen(press(watchOf(crew()), 'f')).split('\n')[2]).toBe(
      '○ ▸ lead +3 !1    00000001 idle        10min 14min  62% 210k  $1.90 Add login w… <',
    )
  })

  test('foreign text cannot move the cursor or turn colours on', () => {
    const bad = '\u001b[2J\u001b[31mred\u0007\r\nnext \u202eevil'
    const lines = drawn(
      watchOf({ sessions: [sessionView(1, { friendly_name: bad, current_task: bad, working_dir: bad })] }),
    ).join('')
    expect(lines.replaceAll(/\p{Cc}\[(?:7|27)m/gu, '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('figures that nobody has take no room, and a full context stands out', () => {
    const bare = { cost_usd: null, tokens_used: 0, context_percent: null }
    expect(screen(watchOf({ sessions: [sessionView(1, bare)] })).split('\n')[1]).toBe(
      '  SESSION      ID       STATE         AGE  LAST TASK',
    )
    const row = drawn(
      watchOf({ sessions: [sessionView(2), sessionView(1, { context_percent: 96 })] }, wide, true),
    )
    expect(row.join('\n')).toContain('\u001b[31m  96%\u001b[39m')
  })
})

describe('the header', () => {
  test('counts per state, and says so when the daemon is gone', () => {
    const model = watchOf(crew(), wide)
    const gone = reduce(model, {
      kind: 'offline',
      why: 'the daemon is not running; start it with `sm up`',
    }).model
    expect(screen(gone).split('\n')[0]).toMatch(/^ muster {2}daemon gone, reconnecting +6 sessions$/)
    expect(screen(gone).split('\n').at(-2)).toBe(' the daemon is not running; start it with `sm up`')
    const back = reduce(gone, { kind: 'loaded', hidden: 0, ...crew() }).model
    expect(screen(back)).toBe(screen(model))
  })

  test('what has left the list is not counted', () => {
    const gone = sessionView(2, {
      status: 'killed',
      completed_at: ago(5),
      is_alive: false,
      created_at: ago(1),
    })
    const model = watchOf({ sessions: [sessionView(1), gone] })
    expect(screen(model).split('\n')[0]).toMatch(/● 1 running {2}✓ 1 ended, 1 new +2 sessions$/)
    expect(screen(press(model, 'j', 'k')).split('\n')[0]).toMatch(/● 1 running +1 session$/)
  })

  test('before the first answer it says that it connects; with no sessions it says how to start one', () => {
    const fresh = openModel({ now: noon, size: { columns: 80, rows: 24 }, color: false, seen: new Set() })
    expect(screen(fresh).split('\n')[0]).toMatch(/connecting…/)
    expect(screen(watchOf({ sessions: [] }))).toMatch(/No sessions yet[\s\S]*sm spawn engineer/)
  })
})

describe('what lies over the list', () => {
  test('a card shows action, reason, place, diff, risk and time left, and how to answer', () => {
    const session = sessionView(1, { friendly_name: 'api', waiting_for: 'permission', pending_approvals: 1 })
    const approval = approvalView(session, {
      action: 'Edit: src/login.ts',
      reason: 'Passkeys need a challenge',
      scope: 'src/login.ts',
      diff: '-const a = 1\n+const a = 2',
      risk: 'high',
      expires_at: new Date(noon + 40 * 60_000).toISOString(),
    })
    const model = press(watchOf({ sessions: [session], approvals: [approval] }), 'y')
    expect(screen(model)).toBe(`\
 muster  ! 1 needs you                                                1 session
── api 00000001 · wants to run a tool · high risk · waits 2min · 40min left ────

 Edit: src/login.ts

 Why: Passkeys need a challenge

 Where: src/login.ts

 -const a = 1
 +const a = 2












 y allow once  s this session  a always  n deny  r deny, with a reason  esc back`)
    expect(screen(press(model, 'y')).split('\n').at(-2)).toBe(' high risk: press y again to allow it')
  })

  test('a question shows its options by number', () => {
    const session = sessionView(1, { friendly_name: 'api', waiting_for: 'question', pending_approvals: 1 })
    const approval = approvalView(session, {
      subject: 'question',
      action: 'Which database?',
      reason: null,
      risk: 'low',
      options: ['Postgres', 'SQLite'],
      scope: [
        {
          question: 'Which database?',
          options: [{ label: 'Postgres', description: 'needs a server' }, { label: 'SQLite' }],
          isMany: false,
        },
      ],
    })
    expect(screen(press(watchOf({ sessions: [session], approvals: [approval] }), 'y'))).toBe(`\
 muster  ! 1 needs you                                                1 session
── api 00000001 · asks you · waits 2min ────────────────────────────────────────

 Which database?

  1  Postgres
       needs a server
  2  SQLite















 1-2 choose  space own words  n decline  esc back`)
  })

  test('a long card scrolls and says that there is more', () => {
    const session = sessionView(1, { pending_approvals: 1 })
    const diff = Array.from({ length: 60 }, (_, i) => `+line ${i}`).join('\n')
    const model = press(watchOf({ sessions: [session], approvals: [approvalView(session, { diff })] }), 'y')
    expect(screen(model)).toMatch(/↓ \d+ more lines: j/)
    const end = press(model, 'G')
    expect(screen(end)).toMatch(/\+line 59/)
    expect(screen(end)).not.toMatch(/more lines/)
  })

  test('help fits 80×24 without scrolling', () => {
    const shown = screen(press(watchOf(crew()), '?'))
    expect(shown).toMatch(/j k ↓ ↑/)
    expect(shown).toMatch(/Red names may do anything without asking/)
    for (const line of shown.split('\n')) expect(line).not.toMatch(/…$/)
  })

  test('an output shows its end, and scrolls back from there', () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`)
    const asked = press(watchOf(crew()), 'o')
    const id = asked.selected ?? ''
    const model = reduce(asked, { kind: 'printed', id, lines, isAlive: true }).model
    expect(screen(model)).toMatch(/line 99/)
    expect(screen(press(model, 'k', 'k'))).not.toMatch(/line 98/)
    const grown = reduce(press(model, 'g'), {
      kind: 'printed',
      id,
      lines: [...lines, 'fresh'],
      isAlive: true,
    }).model
    expect(screen(grown)).not.toMatch(/fresh/)
  })

  test('a reply shows what is typed around the cursor', () => {
    const model = press(watchOf(crew()), ' ', ...graphemes('Grüße 日本'), '<left>')
    const line = drawn(model).at(-2) ?? ''
    expect(line.trimEnd()).toBe(` reply to lead › Grüße 日${terminalText(reversed('本'))}`)
    const long = press(model, ...graphemes('x'.repeat(200)))
    expect(textWidth(drawn(long).at(-2) ?? '')).toBeLessThanOrEqual(80)
  })
})
