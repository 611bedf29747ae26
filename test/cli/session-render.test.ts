import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { View } from '../../src/cli/command-module.ts'
import { renderMilestoneDiff, sessionReportCommands } from '../../src/cli/commands/session-report.ts'
import { renderRestored, renderSpawned } from '../../src/cli/commands/sessions.ts'
import { renderApprovals, renderDecision } from '../../src/cli/render/approvals.ts'
import { renderExplanation } from '../../src/cli/render/explanation.ts'
import { renderMessages, renderSent } from '../../src/cli/render/messages.ts'
import { terminalText } from '../../src/cli/render/paint.ts'
import {
  milestoneLines,
  renderProcesses,
  renderProgress,
  renderSessionEvent,
  renderTranscript,
} from '../../src/cli/render/session-details.ts'
import {
  renderChildren,
  renderEnd,
  renderKilled,
  renderMe,
  renderStatus,
} from '../../src/cli/render/session-lines.ts'
import { renderSessionTable } from '../../src/cli/render/session-table.ts'
import { textWidth } from '../../src/cli/render/text-width.ts'
import type { ApprovalView, MessageView, SessionView } from '../../src/contract/session-views.ts'
import { ago, at, ended, event, milestone, now, progress, session, spawned } from './session-data.ts'

const { complete } = sessionReportCommands

const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'UTC'
})
afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const plain: View = { width: 80, now, color: false }
const painted: View = { ...plain, color: true }
const escape = String.fromCharCode(27)
const bare = (text: string) => terminalText(text).replaceAll(/\p{Cc}\[\d+m/gu, '')
const lines = (...text: string[]) => text.join('\n')

describe('spawn', () => {
  test('[SM-22] one line says name, short id and tmux session, the next how to see it', () => {
    expect(renderSpawned(spawned, plain)).toBe(
      lines(
        'Spawned engineer-abc123 (abc123) in tmux session claude-abc123',
        'Attach with: sm attach abc123',
      ),
    )
    expect(renderSpawned({ ...spawned, friendly_name: 'engineer-eng-1042' }, plain)).toMatch(
      /^Spawned engineer-eng-1042 \(abc123\)/,
    )
  })

  test('[SM-22] a session that asks for nothing is told in red', () => {
    const text = terminalText(renderSpawned({ ...spawned, permission_mode: 'bypass' }, painted))
    expect(text).toContain(`${escape}[31m(asks for nothing: permission mode bypass)`)
  })

  test('[SM-16] a dry run shows the command word by word', () => {
    const dry_run = { argv: ['claude', '--model', 'sonnet', "it's; rm -rf"], environment: ['HOME', 'PATH'] }
    expect(renderSpawned({ ...spawned, dry_run }, plain)).toBe(
      lines(
        'Nothing was started. It would be engineer-abc123 (abc123) in tmux session claude-abc123',
        "  command      claude --model sonnet 'it'\\''s; rm -rf'",
        '  folder       /work/app',
        '  parent       1749a2fe',
        '  cli          claude',
        '  model        sonnet',
        '  permissions  manual',
        '  isolation    none',
        '  environment  HOME PATH',
      ),
    )
  })
})

describe('children', () => {
  const task1042 = ended('abc123', 5, {
    friendly_name: 'engineer-task1042',
    completion_message: 'Feature implemented',
    created_at: ago(20),
  })
  const task1043 = session('def456', {
    friendly_name: 'engineer-task1043',
    current_task: 'In progress',
    spawned_at: ago(2),
    created_at: ago(19),
  })
  const review = ended('ghi789', 10, {
    friendly_name: 'architect-review',
    completion_message: 'Approved',
    created_at: ago(18),
  })
  const fix = ended('xyz111', 3, { friendly_name: 'engineer-fix', parent_session_id: 'abc123' })
  const show = (children: SessionView[], recursive = false) =>
    renderChildren({ children }, plain, { recursive })

  test("[SM-23] name, short id, state, age and last words stand as in document 3's example", () => {
    expect(show([task1042, task1043, review])).toBe(
      lines(
        'engineer-task1042 (abc123) | completed | 5min ago | "Feature implemented"',
        'engineer-task1043 (def456) | running   | 2min ago | In progress',
        'architect-review (ghi789)  | completed | 10min ago | "Approved"',
      ),
    )
  })

  test("[SM-24] the whole subtree is indented as in document 3's example, whatever order it came in", () => {
    const tree = lines(
      'engineer-task1042 (abc123) | completed | 5min ago',
      '  └─ engineer-fix (xyz111) | completed | 3min ago',
      'engineer-task1043 (def456) | running   | 2min ago',
    )
    expect(show([task1042, fix, task1043], true)).toBe(tree)
    expect(show([task1043, fix, task1042], true)).toBe(tree)
  })

  test('[SM-24] every level is deeper, a missing parent lifts its children, and a circle ends', () => {
    const deep = session('d', { parent_session_id: 'xyz111', name: 'deep' })
    expect(show([task1042, fix, deep], true).split('\n')[2]).toMatch(/^ {4}└─ deep \(d\)/)
    expect(show([deep], true)).toMatch(/^deep \(d\)/)
    const [a, b] = [session('a', { parent_session_id: 'b' }), session('b', { parent_session_id: 'a' })]
    expect(show([a, b], true).split('\n')).toHaveLength(2)
  })

  test('[SM-23] without words there is no fourth column, and none at all is nothing', () => {
    expect(show([session('abc123')])).toBe('engineer-abc123 (abc123) | running | 10min ago')
    expect(show([])).toBe('')
  })

  test('[SM-23] words of an agent cannot steer the terminal, nor fill it', () => {
    const text = show([session('abc123', { current_task: `a${escape}[2Jb\nc${'x'.repeat(5000)}` })])
    expect(text).not.toContain(escape)
    expect(text.split('\n')).toHaveLength(1)
    expect(text.length).toBeLessThan(300)
  })
})

describe('progress', () => {
  test("[SM-27][SM-29] it reads as document 3's example", () => {
    expect(renderProgress(progress, plain, { watch: undefined })).toBe(
      lines(
        'engineer-task1043 (def456) | working | 3min elapsed',
        'Tokens: 2,450 / ~10,000 est (24%)',
        'Tools: Read(5) Write(3) Bash(2) Edit(1)',
        'Status: Writing unit tests for API endpoint',
        'Last tool: Write → tests/api.test.ts (10s ago)',
        '',
        'Checkpoints:',
        '  [15:10] Started: Implement feature X',
        '  [15:12] Completed data model (3/5 tasks)',
        '  [15:14] Writing tests',
      ),
    )
  })

  test('[SM-29] without a basis there is no estimate, and what is not known is not shown', () => {
    const early = {
      ...progress,
      status: 'starting',
      elapsed_seconds: 7,
      tokens_used: 0,
      tokens_remaining_estimate: null,
      completion_percentage: null,
      tools_used: {},
      last_tool: null,
      current_activity: null,
      checkpoints: [],
    }
    expect(renderProgress(early, plain, { watch: undefined })).toBe(
      lines('engineer-task1043 (def456) | starting | 7s elapsed', 'Tokens: 0', 'Tools: none'),
    )
    const costly = renderProgress({ ...early, context_percent: 43.4, cost_usd: 0.125 }, plain, {
      watch: undefined,
    })
    expect(costly).toContain('\nContext: 43% used, cost $0.13\n')
    const priced = renderProgress({ ...early, cost_usd: 0.125 }, plain, { watch: undefined })
    expect(priced).toContain('\nCost: $0.13\n')
    expect(priced).not.toContain('Context')
  })

  test('[SM-32] while it is watched every line keeps to its row; else nothing is cut', () => {
    const long = { ...progress, current_activity: 'y'.repeat(300) }
    for (const line of renderProgress(long, plain, { watch: 5 }).split('\n'))
      expect(textWidth(line)).toBeLessThanOrEqual(80)
    expect(renderProgress(long, plain, { watch: undefined })).toContain('y'.repeat(300))
  })

  test.each([
    [{ command: 'npm test' }, 'Bash → npm test (10s ago)'],
    [{ nested: { a: 1 }, n: 1 }, 'Bash (10s ago)'],
    [{ other: 'word' }, 'Bash → word (10s ago)'],
  ])('[SM-30] the last tool with %j is told by what it was used on', (args, text) => {
    const last_tool = { name: 'Bash', args, timestamp: at('15:29'), seconds_ago: 10 }
    expect(renderProgress({ ...progress, last_tool }, plain, { watch: undefined })).toContain(
      `\nLast tool: ${text}\n`,
    )
  })
})

test('[SM-35] checkpoints have their time, oldest first, and another day has its date', () => {
  const past = [
    milestone(1, '15:10', 'Started: Implement feature X'),
    milestone(2, '15:14', 'Starting tests'),
  ]
  expect(milestoneLines(past, now)).toEqual([
    '[15:10] Started: Implement feature X',
    '[15:14] Starting tests',
  ])
  expect(milestoneLines(past, now + 86_400_000)[0]).toBe('[01-27 15:10] Started: Implement feature X')
})

test("[SM-39] events read as document 3's example", () => {
  const told = [
    event(1, '15:10', 'spawned', 'Child engineer-abc123 (abc123) started'),
    event(2, '15:15', 'completed', 'Child abc123 completed - "Feature X done"'),
    event(3, '15:18', 'checkpoint', 'Child 789abc - "Found 15 TypeScript files"'),
    event(4, '15:20', 'idle', 'Child 789abc idle for 5 minutes'),
  ]
  expect(told.map((one) => renderSessionEvent(one, plain))).toEqual([
    '[15:10] spawned: Child engineer-abc123 (abc123) started',
    '[15:15] completed: Child abc123 completed - "Feature X done"',
    '[15:18] checkpoint: Child 789abc - "Found 15 TypeScript files"',
    '[15:20] idle: Child 789abc idle for 5 minutes',
  ])
  for (const one of told) expect(bare(renderSessionEvent(one, painted))).toBe(renderSessionEvent(one, plain))
})

test('[MUS-339] an event names who asked for it only where that tells something: an end before the work was done', () => {
  const by = (word: string, who: string | null) =>
    renderSessionEvent({ ...event(1, '15:10', word, 'x'), by: who }, plain)
  expect(by('killed', 'operator')).toBe('[15:10] killed: x (by operator)')
  expect(by('cancelled', 'abc12345')).toBe('[15:10] cancelled: x (by abc12345)')
  expect(by('killed', '1749a2fe')).toBe('[15:10] killed: x')
  expect(by('killed', null)).toBe('[15:10] killed: x')
  expect(by('killed', 'operator\nFORGED')).not.toContain('\n')
  for (const word of ['spawned', 'completed', 'checkpoint', 'reopened', 'resumed', 'approval'])
    expect(by(word, 'operator')).toBe(`[15:10] ${word}: x`)
})

test('[SM-37][SM-38] complete says what was marked and whether somebody is told', () => {
  const say = (status: 'completed' | 'error' | 'abandoned' | undefined, parent: string | null) =>
    complete.render(session('abc123', { parent_session_id: parent }), plain, {
      message: undefined,
      session: undefined,
      status,
    })
  expect(say(undefined, '1749a2fe')).toBe('Session marked complete. Notifying parent.')
  expect(say('completed', '1749a2fe')).toBe('Session marked complete. Notifying parent.')
  expect(say('error', '1749a2fe')).toBe('Session marked as error. Notifying parent.')
  expect(say('abandoned', '1749a2fe')).toBe('Session marked as abandoned. Notifying parent.')
  expect(say(undefined, null)).toBe('Session marked complete.')
})

describe('messages', () => {
  const message: MessageView = {
    message_id: 'msg_1',
    session_id: 'def456',
    from: 'operator',
    mode: 'sequential',
    state: 'accepted',
    preview: 'Add error handling\nplease',
    detail: null,
    queued_at: ago(3),
    accepted_at: ago(2),
    failed_at: null,
  }

  test('[SM-42] sent, queued and failed are three different answers', () => {
    expect(renderSent(message)).toBe('Input sent to session def456')
    expect(renderSent({ ...message, state: 'answered' })).toBe('Input sent to session def456')
    expect(renderSent({ ...message, state: 'queued', detail: 'it is working' })).toBe(
      'Queued for session def456 (msg_1): it is working',
    )
    expect(renderSent({ ...message, state: 'submitted' })).toBe(
      'On its way to session def456, not accepted yet (msg_1)',
    )
    expect(renderSent({ ...message, state: 'failed', detail: 'its terminal is gone' })).toBe(
      'Not delivered to session def456 (msg_1): its terminal is gone',
    )
  })

  test('[SM-42] the list has receipts and keeps to the width', () => {
    const failed = { ...message, state: 'failed', detail: 'no terminal', preview: 'z'.repeat(300) } as const
    const text = renderMessages({ messages: [message, failed] }, plain)
    expect(text.split('\n').slice(0, 2)).toEqual([
      ' AGE  STATE     MODE        FROM      TEXT',
      '3min  accepted  sequential  operator  Add error handling please',
    ])
    expect(text).toContain('failed    sequential  operator  [no terminal] zzz')
    for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(80)
    expect(renderMessages({ messages: [] }, plain)).toBe('No messages.')
  })
})

describe('approvals', () => {
  const approval: ApprovalView = {
    approval_id: 'apr_1',
    session_id: 'def456',
    name: 'engineer-task1043',
    subject: 'tool',
    action: 'Bash: rm -rf build',
    reason: 'the tool is not on the list',
    scope: null,
    diff: null,
    risk: 'high',
    options: [],
    requested_at: ago(4),
    expires_at: null,
    decision: null,
    decided_by: null,
    answer: null,
  }

  test('[SM-80] what waits says who asks, for what, why, and how to answer', () => {
    expect(renderApprovals({ approvals: [approval] }, plain)).toBe(
      lines(
        'engineer-task1043 (def456) | tool | waits 4min | high risk',
        '    Bash: rm -rf build',
        '    why: the tool is not on the list',
        '    sm approve apr_1  approve\n    sm reject apr_1   reject',
      ),
    )
    expect(renderApprovals({ approvals: [] }, plain)).toBe('Nothing is waiting for a decision.')
    const question = {
      ...approval,
      subject: 'question',
      risk: null,
      reason: null,
      options: ['JWT', 'Cookies'],
    } as const
    expect(
      renderApprovals({ approvals: [{ ...question, options: [...question.options] }] }, plain),
    ).toContain('\n      - JWT\n      - Cookies\n    sm approve apr_1 --answer …')
  })

  test('[SM-80][SM-81] a decision is told as it was taken', () => {
    expect(renderDecision({ ...approval, decision: 'granted' })).toBe(
      'Approved for engineer-task1043 (def456) | Bash: rm -rf build',
    )
    expect(renderDecision({ ...approval, decision: 'rejected' })).toMatch(/^Rejected for /)
    const done = renderApprovals(
      { approvals: [{ ...approval, decision: 'granted', decided_by: 'operator', answer: 'JWT' }] },
      plain,
    )
    expect(done).toContain('| granted by operator: JWT')
    expect(done).not.toContain('sm approve')
  })
})

describe('all', () => {
  const fleet = (count: number): SessionView[] =>
    Array.from({ length: count }, (_, i) =>
      session(String(i).padStart(8, '0'), {
        friendly_name: `engineer-task-with-a-long-name-${i}`,
        created_at: new Date(now - (count - i) * 1000).toISOString(),
        parent_session_id: i % 5 === 0 ? null : String(i - 1).padStart(8, '0'),
        current_task: '日本語 and a task whose description goes on for longer than any terminal is wide',
        tokens_used: i * 12_345,
        context_percent: i % 101,
        status: i % 7 === 0 ? 'waiting_input' : 'running',
        waiting_for: i % 7 === 0 ? 'permission' : null,
        permission_mode: i % 3 === 0 ? 'bypass' : 'manual',
        health: i % 11 === 0 ? 'stuck' : 'ok',
      }),
    )

  test('[SM-108][SM-124] all sessions are one tree with state, age, context, tokens and task', async () => {
    const sessions = [
      ended('abc12345', 3, {
        parent_session_id: '1749a2fe',
        completion_message: 'Done',
        created_at: ago(30),
      }),
      session('def45678', {
        parent_session_id: '1749a2fe',
        status: 'waiting_input',
        waiting_for: 'permission',
        pending_approvals: 1,
        permission_mode: 'bypass',
        created_at: ago(20),
      }),
      session('1749a2fe', {
        friendly_name: 'em-epic1041',
        created_at: ago(60),
        spawned_at: ago(60),
        context_percent: 43.6,
        tokens_used: 1_234_567,
        current_task: 'Working on epic',
      }),
    ]
    const explore = {
      origin: 'agent',
      inside_session_id: 'def45678',
      name: 'Explore',
      status: 'running',
      detail: 'Calling Grep',
      current_task: 'Find all callers',
      created_at: ago(2),
    } as const
    sessions.push(session('7be1c20a', { ...explore, parent_session_id: 'def45678', tokens_used: 11_000 }))
    const page = renderSessionTable({ sessions, next: null, hidden: 12 }, plain)
    await expect(`${page}\n`).toMatchFileSnapshot('golden/all-80.txt')
  })

  test('[SM-108] 200 sessions fit 80 columns, each with its id and its state, with and without colours', () => {
    const sessions = fleet(200)
    const text = renderSessionTable({ sessions, next: null, hidden: 0 }, plain)
    const rows = text.split('\n')
    expect(rows).toHaveLength(203)
    for (const row of rows) expect(textWidth(row), row).toBeLessThanOrEqual(80)
    for (const { session_id } of sessions) expect(text).toContain(session_id)
    expect(bare(renderSessionTable({ sessions, next: null, hidden: 0 }, painted))).toBe(text)
  })

  test('[SM-108] bypass is red, what waits is yellow', () => {
    const text = terminalText(renderSessionTable({ sessions: fleet(1), next: null, hidden: 0 }, painted))
    expect(text).toContain(`${escape}[31mbypass${escape}[39m`)
    expect(text).toContain(`${escape}[33mstuck`)
    expect(text).toContain(`${escape}[33m!permission`)
  })

  test('[SM-108] nobody there is a sentence', () => {
    expect(renderSessionTable({ sessions: [], next: null, hidden: 0 }, plain)).toMatch(/^No sessions\. /)
  })
})

test('[SM-104] me is one line', () => {
  expect(renderMe(session('abc123', { friendly_name: 'engineer-task1042' }))).toBe(
    'engineer-task1042 (abc123) | running | /work/app',
  )
})

test('[SM-109] status shows the caller, its children and its workspace', () => {
  const me = session('abc123', { current_task: 'Login', lock: 'Rebasing' })
  const child = ended('def456', 5, { parent_session_id: 'abc123', completion_message: 'Done' })
  const other = session('ghi789', { lock: 'Migrating' })
  expect(
    renderStatus({ session: me, children: [child], working_dir: '/work/app', others: [other] }, plain),
  ).toBe(
    lines(
      'You: engineer-abc123 (abc123) | running | /work/app',
      'Task: Login',
      'Lock: engineer-abc123 says "Rebasing"',
      'Lock: engineer-ghi789 says "Migrating"',
      'Children:',
      '  engineer-def456 (def456) | completed | 5min ago | "Done"',
      'Others in /work/app:',
      '  engineer-ghi789 (ghi789) | running | 10min ago',
    ),
  )
  expect(renderStatus({ session: null, children: [], working_dir: '/w', others: [] }, plain)).toBe(
    lines('You: a person, not in a session', 'Others in /w: none'),
  )
})

test('[SM-85][SM-125] who was killed is listed as a tree, with what was said of it and what is left', () => {
  const parent = session('abc123', { status: 'killed', detail: '2 files not committed', created_at: ago(20) })
  const child = session('def456', { status: 'killed', parent_session_id: 'abc123' })
  expect(
    renderKilled({ killed: [child, parent], left: [42], suspects: [{ pid: 43, command: 'sleep 9' }] }),
  ).toBe(
    lines(
      'Killed engineer-abc123 (abc123) | 2 files not committed',
      '  └─ Killed engineer-def456 (def456)',
      '1 process still there: 42',
      'Perhaps left behind: process 43 (sleep 9). It began where the session worked, and detached itself; if it is not yours, end it with: kill 43',
    ),
  )
})

test('[SM-87] explain has a verdict, every signal, and what would change it, in 80 columns', () => {
  const text = renderExplanation(
    {
      session_id: 'def456',
      name: 'engineer-task1043',
      status: 'idle',
      activity: null,
      health: 'stale',
      waiting_for: null,
      expires_in_ms: 90_000,
      signals: [
        {
          signal: 'turn-end',
          source: 'hook',
          age_ms: 65_000,
          weight: 1,
          says: 'the turn is over',
          counted: true,
        },
        {
          signal: 'screen',
          source: 'pane',
          age_ms: 900,
          weight: 0.25,
          says: 'w'.repeat(100),
          counted: false,
        },
      ],
      would_change: ['a prompt makes it running'],
    },
    plain,
  )
  const [verdict, , head, first, second, , title, change] = text.split('\n')
  expect(verdict).toBe('engineer-task1043 (def456) | idle | stale | holds 1min more without news')
  expect(head).toBe('SIGNAL    SOURCE   AGE  WEIGHT  COUNTED  SAYS')
  expect(first).toBe('turn-end  hook    1min       1  yes      the turn is over')
  expect(second).toMatch(/^screen {4}pane {6}0s {4}0\.25 {2}no {7}w+…$/)
  expect([title, change]).toEqual(['Would change:', '  - a prompt makes it running'])
  for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(80)
})

test('[SM-1] processes are listed with their session, and those that were left behind are marked', () => {
  const one = {
    session_id: 'def45678',
    name: 'engineer-task1043',
    pid: 4242,
    command: 'claude --model sonnet',
    rss_bytes: 200 * 1024 * 1024,
    cpu_ms: 61_000,
    started_at: ago(5),
    is_orphan: false,
    is_suspect: false,
  }
  const suspect = { ...one, pid: 77, is_orphan: true, is_suspect: true, command: 'sleep 9' }
  const text = renderProcesses(
    { processes: [one, { ...one, is_orphan: true, command: 'q'.repeat(99) }, suspect] },
    plain,
  )
  expect(text.split('\n')[1]).toBe(
    'engineer-task1043  def45678  4242  200 MB  1min  5min  claude --model sonnet',
  )
  expect(text).toContain('[left behind] q')
  expect(text).toContain('[perhaps its own] sleep 9')
  expect(text).toMatch(/\nProcess 77 began where def45678 .* end it with: kill 77$/)
  for (const line of text.split('\n').slice(0, 4)) expect(textWidth(line)).toBeLessThanOrEqual(80)
})

test('[SM-120] restore says of each session what became of it and why', () => {
  const sessions = [
    { session_id: 'abc123', name: 'engineer-a', result: 'restored', why: 'its conversation goes on' },
    { session_id: 'def456', name: 'engineer-b', result: 'needs you', why: 'w '.repeat(60) },
    { session_id: 'ghi789', name: 'engineer-c', result: 'gone', why: 'its folder is gone' },
  ] as const
  const text = renderRestored({ sessions: [...sessions] }, plain)
  expect(text).toContain('engineer-a (abc123)  restored   its conversation goes on\n')
  expect(text).toContain('engineer-c (ghi789)  gone       its folder is gone\n')
  expect(text.split('\n').at(-1)).toBe('1 restored, 1 needs you, 1 gone.')
  for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(80)
})

test('[SM-111] what changed between milestones: figures, files, the difference', () => {
  const diff = {
    from: milestone(1, '15:10', 'Started'),
    to: milestone(3, '15:14', 'Tests'),
    files: [
      { path: 'src/a.ts', change: 'M', added: 12, removed: 3 },
      { path: 'logo.png', change: 'A', added: null, removed: null },
    ],
    diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old\n+new\n',
    tokens: 1200,
    cost_usd: 0.05,
    seconds: 240,
  }
  expect(renderMilestoneDiff(diff, plain)).toBe(
    lines(
      '1 "Started" → 3 "Tests": 4min, 1,200 tokens, $0.05, 2 files',
      '  M src/a.ts +12 -3',
      '  A logo.png',
      '',
      '--- a/src/a.ts',
      '+++ b/src/a.ts',
      '@@ -1 +1 @@',
      '-old',
      '+new',
    ),
  )
  expect(renderMilestoneDiff({ ...diff, to: null, diff: '' }, plain)).toMatch(/^1 "Started" → now: /)
  expect(bare(renderMilestoneDiff(diff, painted))).toBe(renderMilestoneDiff(diff, plain))
})

test('[SM-4] a conversation says who said what and when', () => {
  const entries = [
    { at: at('15:10'), who: 'user', text: 'Do it' },
    { at: at('15:11'), who: 'claude', text: 'First\nsecond' },
  ]
  expect(renderTranscript({ path: null, entries }, plain)).toBe(
    lines('[15:10] user: Do it', '[15:11] claude: First', '    second'),
  )
})

test('[SM-7] an end is told with its result', () => {
  expect(renderEnd(ended('abc123', 1, { completion_message: 'All 26 tests pass' }), plain)).toBe(
    'engineer-abc123 (abc123) | completed | "All 26 tests pass"',
  )
})
