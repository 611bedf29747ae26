import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeScreen, claudeScreens, claudeVersions } from '../../../test/support/claude-golden.ts'
import type { Decision } from '../../contract/decision.ts'
import type { Screen } from '../../contract/screen.ts'
import type { Dialog, ScreenReading } from '../../contract/signal.ts'
import { claudeDialect } from './claude-cli.ts'
import { readClaudeScreen, withoutSidePanel } from './claude-screen.ts'

const calm: ScreenReading = { composer: { state: 'empty' }, isWorking: false }
const working: ScreenReading = { ...calm, isWorking: true }
const typed = (text: string): ScreenReading => ({ ...calm, composer: { state: 'text', text } })
const asks = (dialog: Dialog, more: Partial<ScreenReading> = {}): ScreenReading => ({
  composer: { state: 'none' },
  isWorking: false,
  dialog,
  ...more,
})
const dialog = (kind: Dialog['kind'], title: string, options: readonly string[], selected = 0): Dialog => ({
  kind,
  title,
  options,
  selected,
})
const permission = (title: string, body: string, options: readonly string[]): ScreenReading =>
  asks({ ...dialog('permission', title, options), body })
const menu = (title: string) =>
  asks(
    expect.objectContaining({
      kind: 'menu',
      title: expect.stringContaining(title) as unknown,
    }) as unknown as Dialog,
  )
const drafted = typed('typed\nby hand\n\n  x')
const toppings = ['Cheese', 'Ham', 'Type something', 'Chat about this']
/** One of two questions of the same dialog. */
const ofTwo = (reading: Dialog): ScreenReading => asks({ ...reading, headings: ['Colour', 'Toppings'] })

type Expected = Record<string, ScreenReading>

/** What looks the same in every version. */
const common: Expected = {
  'after-turn': calm,
  apikey: asks(
    dialog('login', 'Detected a custom API key in your environment', ['Yes', 'No (recommended)'], 1),
  ),
  'at-menu': typed('@'),
  background: calm,
  'bang-mode': typed('!'),
  'bang-mode-text': typed('!ls'),
  bypass: asks(
    dialog('bypass', 'WARNING: Claude Code running in Bypass Permissions mode', [
      'No, exit',
      'Yes, I accept',
    ]),
  ),
  'composer-cleared': calm,
  'composer-five-lines': typed('[Pasted text #1 +4 lines]'),
  'composer-one-line': typed('hello world'),
  'composer-wrapped': typed(
    ['word '.repeat(27), 'word '.repeat(27), 'word '.repeat(6)].map((line) => line.trim()).join('\n'),
  ),
  'dead-pane': { composer: { state: 'none' }, isWorking: false },
  'esc-before-output': typed('SCRIPT:[{"hang":true}]'),
  'esc-in-tool': calm,
  failed: { ...calm, error: 'API Error: 400 scripted bad request' },
  'help-question': calm,
  'limit-warn': calm,
  'logged-out': { ...calm, error: 'Please run /login · API Error: 401 OAuth token has expired.' },
  'model-picker': menu('Select model'),
  'narrow-ready': calm,
  'no-credit': {
    ...calm,
    error: 'Credit balance too low · Add funds: https://platform.claude.com/settings/billing',
  },
  'paste-2-lines': typed('two lines\nhere'),
  'paste-700-chars': typed([...Array<string>(5).fill('y'.repeat(136)), 'y'.repeat(20)].join('\n')),
  'paste-marker-and-text': typed('[Pasted text #2 +39 lines] and more'),
  placeholder: calm,
  plan: asks(
    dialog('plan', 'Claude has written up a plan and is ready to execute. Would you like to proceed?', [
      'Yes, and use auto mode',
      'Yes, manually approve edits',
      'Tell Claude what to change',
    ]),
  ),
  'question-multi': ofTwo({ ...dialog('question', 'Which toppings?', toppings, 2), isMany: true }),
  'question-submit': ofTwo(dialog('question', 'Review your answers', ['Submit answers', 'Cancel'])),
  'question-two': ofTwo(
    dialog('question', 'Which colour?', ['Red', 'Blue', 'Type something.', 'Chat about this']),
  ),
  'question-two-second': ofTwo({ ...dialog('question', 'Which toppings?', toppings), isMany: true }),
  'queued-long': { ...working, queued: 1 },
  'queued-two': { ...working, queued: 2 },
  ready: calm,
  'resume-picker': menu('Resume session'),
  'rewind-menu': menu('Rewind'),
  'settings-warning': asks(
    dialog('notice', 'Settings Warning', ['Continue', 'Fix with Claude', 'Exit and fix manually']),
  ),
  'slash-menu': typed('/'),
  'stop-block': calm,
  stopping: working,
  'transcript-view': menu('Showing detailed transcript · ctrl+o to toggle'),
  'typed-lines': drafted,
  // The cursor is where a hint would have it, but nothing says that this is one.
  'typed-lines-home': drafted,
  working,
  'working-with-draft': { ...working, composer: { state: 'text', text: '[Pasted text #1 +4 lines]' } },
}

const mcp = [
  'Use this MCP server',
  'Use this and all future MCP servers in this project',
  'Continue without using this MCP server',
]
const waiting = 'Stop and wait for limit to reset'
const fetched = [
  'Yes',
  "Yes, and don't ask again for example.com",
  'No, and tell Claude what to do differently (esc)',
]
const tip = 'Tip: auto mode handles these prompts for you — choose'

const own: Record<(typeof claudeVersions)[number], Expected> = {
  '2.1.197': {
    'limit-session': asks(dialog('notice', 'What do you want to do?', [waiting, 'Upgrade your plan']), {
      limit: { text: "You've hit your limit · resets 1:34am (UTC)" },
    }),
    'limit-week': asks(dialog('notice', 'What do you want to do?', [waiting, 'Upgrade your plan']), {
      limit: { text: "You've hit your limit · resets Nov 19, 12:49am (Europe/Berlin)" },
    }),
    'mcp-server': asks(dialog('notice', 'New MCP server found in this project: demo', mcp)),
    'narrow-permission': permission('Bash command', 'touch a.txt\nd', [
      'Yes',
      'Yes, and always allow access to proj/ from this',
      'Nooject',
    ]),
    nologin: { ...calm, error: 'Not logged in · Run /login' },
    'permission-held': permission('Bash command', 'touch a.txt && echo made\nd', [
      'Yes',
      'Yes, and always allow access to proj/ from this project',
      'No',
    ]),
    'permission-subagent': permission(
      'Bash command · from the general-purpose agent',
      'touch s.txt\nsub touch',
      ['Yes', 'Yes, and always allow access to proj/ from this project', 'No'],
    ),
    'permission-webfetch': permission(
      'Fetch',
      'url: "https://example.com/a", prompt: "x"\nClaude wants to fetch content from example.com',
      fetched,
    ),
    'permission-write': permission('Create file', 'n.txt\n1 line one\n2 line two', [
      'Yes',
      'Yes, allow all edits during this session (shift+tab)',
      'No',
    ]),
    'plan-empty': asks(dialog('plan', 'Exit plan mode?', ['Yes', 'No'])),
    retry: { ...working, retry: { attempt: 4, of: 10 }, error: 'API error' },
    trust: asks(
      dialog('trust', 'Accessing workspace: /work/project', ['Yes, I trust this folder', 'No, exit']),
    ),
  },
  '2.1.325': {
    'limit-session': { ...calm, limit: { text: "You've hit your limit · resets 1:33am (UTC)" } },
    'limit-week': asks(
      dialog('notice', 'What do you want to do?', [
        waiting,
        'Wait here, then continue automatically at Nov 19, 12:48am',
        'Upgrade your plan',
      ]),
      { limit: { text: "You've hit your limit · resets Nov 19, 12:48am (Europe/Berlin)" } },
    ),
    'mcp-server': asks(dialog('notice', 'New MCP server found in this project: demo', mcp, 2)),
    'narrow-permission': permission('Bash command', `${tip}\n"switch to auto mode" below\nd\ntouch a.txt`, [
      'Yes',
      'Yes, and always allow access to',
      'Yes, and switch to auto mode · auto mode handles',
      'No',
    ]),
    nologin: calm,
    'permission-held': permission(
      'Bash command',
      `${tip} "switch to auto mode" below\nd\ntouch a.txt && echo made`,
      [
        'Yes',
        'Yes, and always allow access to /work/project from this project',
        'Yes, and switch to auto mode · auto mode handles these prompts for you',
        'No',
      ],
    ),
    // The panel with the changed files stands beside the dialog.
    'permission-side-panel': permission(
      'Bash command',
      `${tip} "switch to auto mode" below\nRun shell command\nnode --test\nThis command requires approval`,
      [
        'Yes',
        'Yes, and don’t ask again for: node *',
        'Yes, and switch to auto mode · auto mode handles these prompts for you',
        'No',
      ],
    ),
    // While its hook is held, a subagent in the background shows no dialog.
    'permission-subagent': calm,
    'permission-webfetch': permission(
      'Fetch',
      'Claude wants to fetch content from example.com\nurl: https://example.com/a\nprompt: x',
      fetched,
    ),
    'permission-write': permission('Create file', 'n.txt\n1 line one\n2 line two', [
      'Yes',
      'Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)',
      'No',
    ]),
    'plan-empty': asks(
      dialog('plan', 'Exit plan mode?', [
        'Yes, and switch to default (ask each time) for this session',
        'No',
      ]),
    ),
    'queued-after-prompt': { ...working, retry: { attempt: 6, of: 10 }, error: '529 Overloaded', queued: 2 },
    retry: { ...working, retry: { attempt: 3, of: 10 }, error: '401 invalid x-api-key' },
    trust: asks(
      dialog('trust', 'Accessing workspace: /work/project', ['No, exit', 'Yes, I trust this folder']),
    ),
  },
}

describe.each(claudeVersions)('screens of %s', (version) => {
  const expected = { ...common, ...own[version] }
  const recorded = claudeScreens().filter((screen) => screen.version === version)

  test('[SM-88] every recorded screen is expected', () => {
    expect(recorded.map(({ name }) => name).toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  test.each(recorded.map(({ name }) => name))('[SM-88] %s', (name) => {
    const screen = claudeScreen(name, version)
    const reading = readClaudeScreen(screen, version)
    expect(reading).toEqual(expected[name])
    // History above the visible part changes nothing, and neither does a version that is not known.
    const history = [
      '────────────────────',
      '❯\u00a0old draft',
      '────────────────────',
      ' Do you want to proceed?',
    ]
    const taller = {
      ...screen,
      lines: [...history, ...screen.lines],
      cursor: { ...screen.cursor, y: screen.cursor.y + 4 },
    }
    expect(readClaudeScreen(taller, version)).toEqual(reading)
    const { queued: _, ...rest } = readClaudeScreen(screen, '')
    const { queued: __, ...same } = reading
    expect(rest).toEqual(same)
  })
})

const blank: Screen = {
  lines: [],
  width: 80,
  height: 24,
  cursor: { x: 0, y: 0, isVisible: true },
  isInMode: false,
  title: '',
}

test('[SM-88] a hint that a person typed is text', () => {
  const screen = claudeScreen('placeholder', '2.1.325')
  const { text } = readClaudeScreen({ ...screen, cursor: { ...screen.cursor, x: 40 } }, '2.1.325')
    .composer as {
    text: string
  }
  expect(text).toMatch(/^Try "/)
})

test('[SM-88] words of an agent are no dialog, and a prompt of the past is no draft', () => {
  const rule = '─'.repeat(80)
  const lines = [
    '❯ Do you want to proceed?',
    '● Do you want to proceed?',
    '  ❯ 1. Yes',
    '✻ Brewed for 0s',
    rule,
    '❯\u00a0',
    rule,
    '  ? for shortcuts',
  ]
  expect(readClaudeScreen({ ...blank, lines, height: lines.length }, '2.1.197')).toEqual(calm)
})

test('[MUS-14] any screen can be read', () => {
  const piece = fc.constantFrom(
    '─'.repeat(40),
    '❯',
    '❯\u00a0x',
    '! ',
    ' ❯ 1. Yes',
    '  2. No',
    '● a',
    '✻ B…',
    '▔'.repeat(40),
    '',
    'Esc to cancel',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), fc.nat(40), (lines, height) => {
      const reading = readClaudeScreen({ ...blank, lines, height }, '2.1.325')
      expect(['empty', 'text', 'none']).toContain(reading.composer.state)
      if (reading.dialog) expect(reading.composer.state).toBe('none')
    }),
  )
})

describe('the keys that answer a dialog', () => {
  const shown = (name: string) => readClaudeScreen(claudeScreen(name, '2.1.325'), '2.1.325').dialog as Dialog
  const keys = (name: string, decision: Decision) => claudeDialect.answerKeys?.(shown(name), decision)
  const allow = (scope: 'once' | 'session' | 'always'): Decision => ({ verdict: 'allow', scope })

  test('[MUS-247] choose what was asked for, and never another mode', () => {
    expect(keys('permission-side-panel', allow('once'))).toEqual(['1'])
    expect(keys('permission-side-panel', allow('session'))).toEqual(['2'])
    expect(keys('permission-held', allow('always'))).toEqual(['2'])
    expect(keys('permission-held', { verdict: 'deny' })).toEqual(['4'])
    expect(keys('permission-write', allow('once'))).toEqual(['1'])
    expect(keys('permission-write', allow('session'))).toBeUndefined()
    expect(keys('plan', allow('once'))).toEqual(['2'])
    expect(keys('plan', { verdict: 'deny' })).toBeUndefined()
    expect(keys('trust', allow('always'))).toBeUndefined()
  })
})

describe('the panel with the changed files', () => {
  const panel = (left: string) => `${left.padEnd(20)}│1 file changed`
  const head = `${' '.repeat(20)}│          ✕`

  test('[SM-88] is left out, whatever is wide beside it, and ends where the box begins', () => {
    const box = '─'.repeat(40)
    expect(
      withoutSidePanel([head, panel('● Done │ so far'), `${'漢字 and more'.padEnd(18)}│x │y`, box, '❯ ']),
    ).toEqual(['', '● Done │ so far', '漢字 and more', box, '❯ '])
    const lines = ['│ a table │', '│ ✕ wrong │']
    expect(withoutSidePanel(lines)).toEqual(lines)
  })
})
