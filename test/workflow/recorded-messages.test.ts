import { realpathSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { done, playedTask, said, write } from '../support/crew-play.ts'
import { call, script } from '../support/own-agents.ts'
import { ownDaemon } from '../support/own-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { tempFolder } from '../support/temp-journal.ts'

type Heard = {
  readonly agentId: string
  readonly prompt: string
  readonly words: string
  readonly seq: number
}

const of = <T extends EventType>(events: readonly AgentEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type)

/** Every word that an agent says has its own sign: who said it, and where. */
const sign = (speaker: string, place: string) => `<<${speaker}.${place}>>`
const signs = (text: string): string[] => [...new Set(text.match(/<<[a-z0-9-]+\.[a-z0-9_]+>>/g) ?? [])]
const speakerOf = (word: string): string => word.slice(2, word.indexOf('.'))

const plan = (by: string, tasks: readonly object[], place = 'summary') =>
  said({ summary: sign(by, place), notes: sign(by, 'notes'), tasks })
const task = (by: string, id: string, more: object = {}) => ({
  ...playedTask(id, [`${id}.txt`], more),
  title: `${id} ${sign(by, `${id}_title`)}`,
  description: `${sign(by, `${id}_description`)} SCRIPT=play`,
  acceptance_criteria: [sign(by, `${id}_criterion`)],
})
const report = (by: string, status = 'completed') =>
  done(sign(by, 'summary'), {
    status,
    implementation_notes: sign(by, 'notes'),
    blockers: [sign(by, 'blocker')],
    suggestions: [sign(by, 'suggestion')],
    self_review: {
      tests_run: true,
      tests_passed: true,
      type_check_passed: true,
      known_issues: [sign(by, 'issue')],
    },
  })
const finding = (by: string, finding_id: string, file: string) => ({
  finding_id,
  severity: 'major',
  category: 'bug',
  file,
  description: sign(by, `${finding_id}_description`),
  rationale: sign(by, `${finding_id}_rationale`),
  suggestion: sign(by, `${finding_id}_suggestion`),
})
const verdict = (by: string, word: string, more: object = {}) =>
  said({
    verdict: word,
    summary: sign(by, 'summary'),
    findings: [],
    commendations: [sign(by, 'commendation')],
    ...more,
  })

/** All ways that words can take from one agent to another: plan, objection, failure, dependency, findings, rejection. */
const parts = [
  { when: 'The reviewer rejected', steps: [plan('architect', [task('architect', 'third')], 'replanned')] },
  {
    when: sign('architect', 'replanned'),
    steps: [said({ verdict: 'go', summary: sign('challenger', 'summary'), objections: [] })],
  },
  {
    when: 'Your plan was',
    steps: [
      plan('architect', [task('architect', 'first'), task('architect', 'second', { depends_on: ['first'] })]),
    ],
  },
  {
    when: 'You are the challenger',
    steps: [
      said({
        verdict: 'stop',
        summary: sign('challenger', 'summary'),
        objections: [
          {
            priority: 'P0',
            description: sign('challenger', 'objection'),
            settled_by: sign('challenger', 'settled'),
          },
        ],
      }),
    ],
  },
  {
    when: 'Attempt 1 at the task first',
    steps: [said({ action: 'reassign', reason: sign('architect', 'reason') })],
  },
  { when: 'You are the architect', steps: [plan('architect', [task('architect', 'rash')])] },
  {
    when: '"review_id": "review-1-reviewer"',
    steps: [
      verdict('reviewer', 'changes_requested', {
        findings: [finding('reviewer', 'odd', 'second.txt')],
        required_changes: [
          {
            change_id: 'more',
            priority: 'must_fix',
            related_findings: [],
            description: sign('reviewer', 'change'),
          },
        ],
      }),
    ],
  },
  { when: '"review_id": "review-1-security"', steps: [verdict('security', 'approved')] },
  { when: '"review_id": "review-2-reviewer"', steps: [verdict('reviewer', 'approved')] },
  {
    when: '"review_id": "review-2-security"',
    steps: [verdict('security', 'rejected', { findings: [finding('security', 'leak', 'first.txt')] })],
  },
  {
    when: '"review_id": "review-3',
    steps: [verdict('reviewer', 'approved', { addressed: ['r2-security-leak'] })],
  },
  {
    when: 'ended in an error',
    steps: [write('first.txt', 'first\n'), report('developer-1-try2')],
  },
  { when: '"task_id": "first"', steps: [report('developer-1', 'failed')] },
  { when: '"task_id": "second-rev1"', steps: [write('second.txt', 'again\n'), report('developer-2')] },
  { when: '"task_id": "rest-rev1"', steps: [write('first.txt', 'more\n'), report('developer-3')] },
  { when: '"task_id": "second"', steps: [write('second.txt', 'second\n'), report('developer-2')] },
  { when: '"task_id": "third"', steps: [write('third.txt', 'third\n'), report('developer-4')] },
]

const crew = [
  'description: all who can speak',
  'members: [{ role: architect }, { role: challenger }, { role: developer }, { role: reviewer }, { role: security }]',
].join('\n')

type Body = {
  readonly messages: readonly { readonly content: string | readonly { readonly text?: string }[] }[]
}

/** What begins a conversation, as it came over the wire. */
function firstWords(body: string): readonly (string | undefined)[] {
  const content = (JSON.parse(body) as Body).messages[0]?.content ?? []
  return typeof content === 'string' ? [content] : content.map(({ text }) => text)
}

/** All that a conversation has in it. */
const allWords = (body: string): readonly (string | undefined)[] =>
  (JSON.parse(body) as Body).messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.map(({ text }) => text),
  )

/** What reached each agent, as the model was sent it, and the fact by which it began. */
function heardBy(events: readonly AgentEvent[], asked: readonly string[]): Heard[] {
  // The architect has one run, and what it is asked are turns of it: each body belongs to the last that is in it.
  const questions = of(events, 'agent.message.created').filter(({ payload }) =>
    payload.messageId.includes(':question:'),
  )
  const lastIn = (body: string) =>
    questions.findLast(({ payload }) => allWords(body).includes(payload.text as string))
  const begun = [
    ...questions.map((question) => ({
      seq: question.seq,
      agentId: question.payload.to.agentId,
      prompt: question.payload.text as string,
      isOwn: (body: string) => lastIn(body) === question,
    })),
    ...of(events, 'agent.spawned').flatMap(({ seq, payload, parentRunId }) => {
      if (parentRunId === undefined) return []
      const prompt = payload.agentTask as string
      const isOwn = (body: string) => firstWords(body).includes(prompt)
      return [{ seq, agentId: payload.agentId, prompt, isOwn }]
    }),
  ]
  return begun.map(({ isOwn, ...one }) => {
    const own = asked.filter(isOwn)
    expect(own.length, one.agentId).toBeGreaterThan(0)
    return { ...one, words: own.join('\n') }
  })
}

test('[COL-6] whatever an agent hears of another came as a message that was recorded before, and by no other way', async () => {
  const m = await crewDaemon({ parts, crews: { all: crew } })
  const { workflow_id, session_id } = await m.crew('Do it. SCRIPT=play', { crew: 'all' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      rounds: [{ verdict: 'changes_requested' }, { verdict: 'rejected' }, { verdict: 'approved' }],
    },
  })
  const events = await m.events(session_id)
  const messages = of(events, 'agent.message.created').filter(
    ({ payload }) => payload.messageType !== undefined,
  )
  const heard = heardBy(events, m.asked())
  // Nobody was asked anything but what its run began with.
  const begun = new Set(heard.map(({ prompt }) => prompt))
  for (const body of m.asked())
    expect(firstWords(body).some((words) => words !== undefined && begun.has(words))).toBe(true)
  const ways = new Set<string>()
  for (const { agentId, prompt, words, seq } of heard) {
    const told = messages.filter((one) => one.seq < seq && one.payload.to.agentId === agentId)
    const toldWords = JSON.stringify(told.map(({ payload }) => payload.payload))
    for (const word of signs(words)) {
      const speaker = speakerOf(word)
      // A conversation has what the agent itself says in it, and may be shown again what it said before.
      if (speaker === agentId) continue
      expect(toldWords.includes(word), `${agentId} heard ${word}`).toBe(true)
      ways.add(`${speaker} → ${agentId}`)
    }
    // What it is given as data is the message, to the letter.
    const [, given] = /^```json\n([^]*?)\n```$/m.exec(prompt) ?? []
    const kind = /^You are (?:the |a )(\w+)/m.exec(prompt)?.[1]
    if (kind === 'developer' || kind === 'reviewer') {
      const last = told.at(-1)?.payload.payload as { readonly task?: unknown }
      expect(JSON.parse(given ?? ''), agentId).toEqual(kind === 'developer' ? last.task : last)
    }
  }
  // None of the ways was left out.
  expect([...ways].toSorted()).toEqual(
    [
      'architect → challenger',
      'architect → developer-1',
      'architect → developer-1-try2',
      'architect → developer-2',
      'architect → developer-4',
      'architect → reviewer',
      'architect → security',
      'challenger → architect',
      'developer-1 → architect',
      'developer-1 → developer-1-try2',
      'reviewer → architect',
      'reviewer → developer-2',
      'reviewer → developer-3',
      'reviewer → security',
      'security → architect',
      'security → reviewer',
    ].toSorted(),
  )
})

/** Whose conversation it is: boss is spoken to by a person, the others by boss. */
const hearerOf = (body: string): string =>
  /Message from boss:|boss handed this over to you/.test(body)
    ? 'maker'
    : firstWords(body).some((words) => words?.startsWith('Find it'))
      ? 'helper'
      : 'boss'

test('[COL-6] what agents of one session share is recorded before another reads it: tasks and their answers, the blackboard, messages, handovers', async () => {
  const m = await ownDaemon(realpathSync(tempFolder('mrm-')))
  onTestFinished(() => m.close())
  // What helper answers is made by a command, so that nobody has read it before in the script of somebody else.
  const answer = call('Bash', { command: "printf '<<%s.%s>>' helper answer" })
  const found = script(call('Blackboard', { operation: 'list' }), answer, { text: '${lastToolResult}' })
  await m.say(
    script(
      call('Blackboard', { operation: 'put', id: 'db', type: 'fact', content: sign('boss', 'board') }),
      call('Task', { subagent_type: 'helper', prompt: `Find it ${sign('boss', 'task')} ${found}` }),
      call('SendMessage', {
        to: 'maker',
        message: `${sign('boss', 'message')} ${script({ text: sign('maker', 'got') })}`,
      }),
      call('Handoff', {
        to: 'maker',
        reason: sign('boss', 'reason'),
        context: `${sign('boss', 'context')} ${script({ text: sign('maker', 'end') })}`,
      }),
    ),
  )
  // Maker may still be at the message when it is handed over to: it then has one run for both.
  await eventually(
    async () => ({ runs: await m.runs(), asked: m.asked.filter((body) => hearerOf(body) === 'maker') }),
    ({ runs, asked }) =>
      asked.some((body) => body.includes(sign('boss', 'context'))) &&
      runs.every(({ status }) => status !== 'running'),
  )
  const events = await m.events()
  const heard = m.asked.map((body) => ({ agentId: hearerOf(body), body }))
  const ways = new Map<string, Set<string>>()
  for (const agentId of ['boss', 'helper', 'maker']) {
    const calls = of(events, 'llm.request.started').filter(({ actor }) => actor === agentId)
    const bodies = heard.filter((one) => one.agentId === agentId)
    expect(bodies.length, agentId).toBe(calls.length)
    for (const [i, { body }] of bodies.entries())
      for (const word of signs(body).filter((one) => speakerOf(one) !== agentId)) {
        // Boss has the whole script from a person.
        if (agentId === 'boss' && speakerOf(word) === 'maker') continue
        const before = events.filter(
          (event) => event.seq < (calls[i]?.seq ?? 0) && JSON.stringify(event.payload).includes(word),
        )
        const types = before.filter(({ actor }) => actor === speakerOf(word)).map(({ type }) => type)
        expect(types.length, `${agentId} heard ${word}`).toBeGreaterThan(0)
        ways.set(`${word} ${agentId}`, new Set(types))
      }
  }
  const by = (word: string, agentId: string) => [...(ways.get(`${word} ${agentId}`) ?? [])]
  expect(by(sign('boss', 'task'), 'helper')).toContain('tool.call.started')
  expect(by(sign('boss', 'board'), 'helper')).toContain('blackboard.item.created')
  expect(by(sign('helper', 'answer'), 'boss')).toContain('agent.message.created')
  expect(by(sign('boss', 'message'), 'maker')).toContain('agent.message.created')
  expect(by(sign('boss', 'reason'), 'maker')).toContain('handoff.requested')
  expect(by(sign('boss', 'context'), 'maker')).toContain('handoff.requested')
  expect(ways.size).toBe(6)
})
