import type { CommandOutput } from '../../src/contract/cli/outputs.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../src/contract/ids.ts'
import type { DoctorReport, RedactionReport } from '../../src/contract/offline.ts'
import type { WireEvent } from '../../src/contract/routes.ts'

const url = 'http://127.0.0.1:4711'
const session = `ses_01kfx0${'a'.repeat(20)}` as SessionId

export const upFirst: CommandOutput<'up'> = {
  url,
  pid: 4242,
  version: '0.1.0',
  home: '/home/ada/.local/state/muster',
  started: true,
}
export const upOverSsh: CommandOutput<'up'> = {
  ...upFirst,
  started: false,
  forward: 'ssh -L 4711:127.0.0.1:4711 ada@203.0.113.7',
}
export const down: CommandOutput<'down'> = { stopped: true, killed: 0, suspects: [] }
export const downIdle: CommandOutput<'down'> = { stopped: false, killed: 0, suspects: [] }

export const doctorWell: DoctorReport = {
  daemon: 'running',
  checks: [
    { name: 'home', status: 'ok', detail: '/home/ada/.local/state/muster' },
    { name: 'git', status: 'ok', detail: '2.39.5', cure: 'never shown when all is well' },
  ],
}
export const doctor: DoctorReport = {
  daemon: 'stopped',
  checks: [
    { name: 'home', status: 'ok', detail: '/home/ada/.local/state/muster, private' },
    {
      name: 'tmux',
      status: 'warning',
      detail: 'not found on the PATH',
      cure: 'install it: apt install tmux; without it sessions cannot have a terminal of their own, only headless ones',
    },
    { name: 'disk', status: 'failed', detail: '12 MB free where 64 MB are needed', cure: 'free some space' },
  ],
}

export const config: CommandOutput<'config show'> = {
  files: ['/home/ada/.config/muster/config.yaml'],
  values: [
    { key: 'claude.default_command', value: 'claude', origin: 'default' },
    {
      key: 'sessions.inherit_environment_vars',
      value: ['SSH_AUTH_SOCK', 'PATH', 'LANG', 'EDITOR', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL'],
      origin: { file: '/home/ada/.config/muster/config.yaml', line: 12 },
    },
    { key: 'limits.max_depth', value: 4, origin: { file: '/work/app/.muster.yaml', line: 3 } },
  ],
  warnings: [],
}

export const agent: CommandOutput<'agents show'> = {
  name: 'reviewer',
  aliases: ['critic'],
  description: 'Reads a change and gives a verdict.',
  kind: 'subagent',
  source: 'shipped',
  file: '/work/main/agents/reviewer.md',
  tools: ['Read', 'Grep', 'Bash'],
  policy: { allow: ['Finalize', 'Delegate'], delegateTargets: 'any' },
  prompt: 'You review changes.\n\nSay what you found.\n',
}
const { prompt: _prompt, ...card } = agent
export const agents: CommandOutput<'agents list'> = [
  {
    ...card,
    name: 'architect',
    kind: 'main',
    model: 'opus',
    description:
      'Plans the work, splits it into tasks that do not touch each other, and hands them out to developers.',
  },
  card,
]
export const newAgents: CommandOutput<'agents new'>[] = [
  { name: 'migrator', kind: 'subagent', source: 'project', file: '/work/app/agents/migrator.md' },
  { name: 'mine', kind: 'main', source: 'user', file: '/home/ada/.config/muster/agents/mine.md' },
]
const member = { cli: 'own', count: 1, guidelines: [] }
const balanced: CommandOutput<'crews show'> = {
  name: 'balanced',
  aliases: ['three-agent'],
  description: 'Plans a request, splits it into tasks and reviews the result',
  pattern: 'master_worker',
  flow: 'planned',
  members: [
    { ...member, id: 'architect', role: 'architect', duty: 'plan', agent: 'architect', model: 'opus' },
    {
      ...member,
      id: 'developer',
      role: 'developer',
      duty: 'work',
      agent: 'developer',
      cli: 'codex',
      count: 4,
    },
    {
      ...member,
      id: 'reviewer',
      role: 'reviewer',
      duty: 'review',
      agent: 'strict-reviewer',
      guidelines: ['Look first at what is hard to undo.'],
    },
  ],
  limits: {
    maxIterations: 3,
    maxParallel: 4,
    maxTasks: 20,
    developerMinutes: 10,
    reviewerMinutes: 5,
    progressSeconds: 30,
  },
  budget: { tokens: 2_000_000, usd: 20 },
  checks: { test: 'npm test', typeCheck: 'npx tsc', custom: [{ name: 'lint', command: 'npm run lint' }] },
  styleGuide: { file: 'docs/style.md' },
  approvePlan: true,
  onMaxIterations: 'human_review',
  recommendedFor: ['a feature that touches several files'],
  source: 'shipped',
  file: '/work/main/crews/balanced.yaml',
}
const words: CommandOutput<'crews show'> = {
  ...balanced,
  name: 'words',
  aliases: [],
  description: '',
  pattern: 'pipeline',
  flow: 'pipeline',
  members: [
    { ...member, id: 'tester', role: 'tester', duty: 'stage', agent: 'tester' },
    { ...member, id: 'documenter', role: 'documenter', duty: 'stage', agent: 'documenter' },
  ],
  budget: undefined,
  checks: { custom: [] },
  styleGuide: 'Short sentences.\nNo jargon.',
  approvePlan: false,
  onMaxIterations: 'abort',
  recommendedFor: [],
  source: 'project',
  file: '/work/app/.muster/crews/words.yaml',
}
export const crews = [balanced, words]
export const agentsCheck: CommandOutput<'agents check'> = {
  agents: 5,
  problems: [
    {
      file: '/work/app/.muster/agents/bad.md',
      line: 4,
      severity: 'error',
      message: 'tools: a tool is * or a bare name',
    },
    { file: '/work/app/.muster/agents/odd.md', line: 2, severity: 'warning', message: 'unknown tool Raed' },
  ],
  shadowed: [
    { name: 'reviewer', file: '/work/main/agents/reviewer.md', by: '/work/app/.muster/agents/reviewer.md' },
  ],
}

export const models: CommandOutput<'models'> = {
  providers: [
    {
      provider: 'anthropic',
      protocol: 'anthropic',
      models: ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'],
      usable: true,
      why: 'ready: key from ANTHROPIC_API_KEY',
    },
    {
      provider: 'openai',
      protocol: 'openai',
      models: ['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna'],
      usable: false,
      why: 'no key: set OPENAI_API_KEY or models.providers.openai.keyring',
    },
    {
      provider: 'ollama',
      protocol: 'compatible',
      models: [],
      usable: false,
      why: 'nothing listens at http://127.0.0.1:11434',
    },
    {
      provider: 'scripted',
      protocol: 'anthropic',
      models: ['scripted'],
      usable: true,
      why: 'ready: it answers from a script; no model is called',
    },
  ],
  default: { model: 'anthropic/claude-opus-5-5', why: 'it is models.default', passed_over: [] },
  fallback: ['anthropic/claude-sonnet-5-5'],
  aliases: { sonnet: 'anthropic/claude-sonnet-5-5', fast: 'openai/gpt-6-luna' },
}
export const modelsNone: CommandOutput<'models'> = {
  providers: models.providers.filter(({ usable }) => !usable),
  default: {
    model: null,
    why: 'neither models.default nor any of its fallbacks can be used',
    passed_over: [
      {
        model: 'openai/gpt-6-sol',
        why: 'no key: OPENAI_API_KEY is not set, and the keyring (muster/openai): it has no such entry',
      },
    ],
  },
  fallback: [],
  aliases: {},
}

export const verified: CommandOutput<'journal verify'> = {
  ok: true,
  segments: 3,
  events: 1_234_567,
  bytes: 201_326_592,
  blobs: 12,
  damage: [],
}
export const damaged: CommandOutput<'journal verify'> = {
  ok: false,
  segments: 1,
  events: 41,
  bytes: 20_480,
  blobs: 1,
  damage: [
    {
      file: 'segments/000001-000000000001.jsonl',
      line: 17,
      offset: 8123,
      seq: 15,
      reason: 'the digest does not fit the line',
    },
    { file: 'blobs/000001.pack', offset: 20_000, seq: 21, reason: 'a text does not match its digest' },
    { file: 'segments/000002-000000000042.jsonl', offset: 0, reason: 'the file is missing' },
  ],
  unfinished: { file: 'segments/000001-000000000001.jsonl', bytes: 120, reason: 'the batch has no end' },
}
export const cured: CommandOutput<'journal verify'> = {
  ...verified,
  setAside: [
    { file: 'segments/000001-000000000001.jsonl', lines: 1, lost: 0, original: 'aside/000001.jsonl' },
  ],
}
export const stats: CommandOutput<'journal stats'> = {
  segments: 3,
  bytes: 201_326_592,
  blobBytes: 1_048_576,
  oldestSeq: 1,
  seq: 1_234_567,
  snapshotSeq: 1_200_000,
  openSessions: 4,
  producers: 12,
}
export const imported: CommandOutput<'journal import'> = {
  appended: 120,
  duplicates: 3,
  rejected: [{ line: 7, code: 'invalid', message: 'type: expected an event type' }],
}

const event = (seq: number, type: string, payload: unknown): WireEvent => ({
  seq,
  id: `evt_${'0'.repeat(26)}` as WireEvent['id'],
  traceId: `${'0'.repeat(31)}1` as TraceId,
  spanId: `${'0'.repeat(15)}1` as SpanId,
  sessionId: session,
  runId: `run_${'0'.repeat(26)}` as RunId,
  actor: 'agent',
  type,
  timestamp: '2026-01-27T15:10:05.120Z',
  recordedAt: '2026-01-27T15:10:05.130Z',
  schemaVersion: '1',
  payload,
})
export const events: WireEvent[] = [
  event(9, 'session.started', { name: 'engineer-task1042', nested: { left: 'out' } }),
  event(10, 'tool.call.failed', {
    name: 'Bash',
    error:
      'exit 2\nnpm ERR! something went very wrong in a place that is far away from here, and it goes on and on',
  }),
  event(123_456, 'blackboard.item.updated', null),
]

const remark = { path: '/messages/3/payload', code: 'payload_shape', message: 'expected a task_id' } as const
export const validations: CommandOutput<'log validate'> = [
  { file: 'good-multi.json', valid: true, errors: [], warnings: [] },
  {
    file: 'bad-multi.json',
    valid: false,
    errors: [{ path: '', code: 'schema', message: 'expected an object', severity: 'error' }],
    warnings: [{ ...remark, severity: 'warning' }],
  },
]
export const logImports: CommandOutput<'log import'> = [
  {
    file: 'a-multi.json',
    sessionId: session,
    shortId: '1749a2fe',
    events: 40,
    repairs: [],
    duplicate: false,
  },
  {
    file: 'b-multi.json',
    sessionId: session,
    shortId: 'abc12345',
    events: 1,
    repairs: [remark],
    duplicate: false,
  },
  { file: 'c-multi.json', sessionId: session, shortId: 'def45678', events: 0, repairs: [], duplicate: true },
  {
    file: 'd.json',
    events: 0,
    repairs: [],
    duplicate: false,
    refused: { code: 'invalid', message: 'd.json is no JSON' },
  },
]
export const conversion: CommandOutput<'log migrate'> = {
  file: 'old.json',
  document: { session_id: 'x' },
  repairs: [{ path: '/messages/0/content', message: 'is payload now' }],
  written: '/work/app/new.json',
}

export const redaction: RedactionReport = {
  redacted:
    'first\npassword=[redacted:assignment] and a text that goes on for a while so that it has to be cut somewhere in it\n',
  findings: [{ rule: 'assignment', line: 2, column: 10 }],
}

export const hits: CommandOutput<'search'> = {
  hits: [
    {
      seq: 77,
      atMs: Date.parse('2026-01-27T15:05:00.000Z'),
      sessionId: session,
      type: 'tool.call.failed',
      tool: 'Bash',
      status: null,
      title: [],
      snippet: [
        { text: 'the client waits with ', isHit: false },
        { text: 'exponential backoff', isHit: true },
        {
          text: ' before it tries again, which was the cause of the\nslow start that people had seen on Monday',
          isHit: false,
        },
      ],
    },
  ],
}
