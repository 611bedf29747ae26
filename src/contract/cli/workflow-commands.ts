import { commandFamily } from './command.ts'

const aWorkflow = { takes: 'one', about: 'a workflow, or its session' } as const

/** Crews at work, and every other durable procedure. */
export const workflowCommands = commandFamily({
  demo: {
    group: 'people',
    summary: 'watch a crew of built-in agents on a small project',
    needs: 'daemon',
    options: {
      once: { kind: 'switch', about: 'do nothing unless this installation is new; npm start uses this' },
    },
    examples: [{ line: 'sm demo', does: 'real git, tools and tests; no model is called' }],
  },
  crew: {
    group: 'people',
    summary: 'have a crew plan, do and review a task',
    needs: 'daemon',
    answers: 'getWorkflow',
    arguments: {
      request: { takes: 'optional', about: 'what to do; - reads standard input', mayBeBlank: true },
    },
    options: {
      name: {
        kind: 'text',
        value: 'crew',
        about: 'which crew; balanced when none is named, sm crews list shows them',
      },
      pattern: {
        kind: 'text',
        value: 'pattern',
        choices: ['master_worker', 'pipeline', 'peer_to_peer', 'consensus'],
        about: 'how its members work together; without --name, the crew that comes with Muster for it',
      },
      choice: {
        kind: 'text',
        value: 'answer',
        isMany: true,
        about: 'what can be voted for in a consensus; once for each',
      },
      cli: {
        kind: 'text',
        value: 'cli',
        about: 'who plays every role: own (built-in agents), claude, codex and so on; chosen without it',
      },
      model: {
        kind: 'text',
        value: 'model',
        about: 'use this model instead of those named by the crew and its agents',
      },
      'max-iterations': { kind: 'count', value: 'n', range: [1, 20], about: 'maximum rounds of review' },
      budget: {
        kind: 'text',
        value: 'amount',
        isMany: true,
        about: 'limit on usage: 500k tokens, 5usd, or both',
      },
      minutes: { kind: 'count', value: 'n', range: [1], about: 'time limit in minutes' },
      'approve-plan': { kind: 'switch', about: 'ask before the work begins' },
      detach: { kind: 'switch', short: 'd', about: 'do not wait for the end' },
    },
    examples: [
      { line: 'sm crew "Add login with a test"', does: 'plan, parallel work, review; a branch to land' },
      {
        line: 'sm crew "Fix the flaky test" --name pair -d',
        does: 'one developer and a reviewer, in the background',
      },
      {
        line: 'sm crew "Which store?" --pattern consensus --choice sqlite --choice postgres',
        does: 'several agents vote, unseen by each other',
      },
    ],
  },
  'workflow list': {
    group: 'people',
    summary: 'list workflows and their state',
    needs: 'daemon',
    answers: 'listWorkflows',
    options: { limit: { kind: 'count', value: 'n', about: 'show at most this many, newest first' } },
    examples: [{ line: 'sm workflow list', does: 'running, waiting and finished ones' }],
  },
  'workflow show': {
    group: 'people',
    summary: 'show a workflow: tasks, questions, report',
    needs: 'daemon',
    answers: 'getWorkflow',
    arguments: { id: aWorkflow },
    examples: [{ line: 'sm workflow show crew-1749a2fe', does: 'its report once it has finished' }],
  },
  'workflow run': {
    group: 'people',
    summary: 'run a workflow script',
    needs: 'daemon',
    answers: 'getWorkflow',
    arguments: { script: { takes: 'one', about: 'its name, or the path of its file' } },
    options: {
      args: { kind: 'text', value: 'json', about: 'arguments for the script' },
      cli: {
        kind: 'text',
        value: 'cli',
        about: 'who does the work unless the script says; chosen without it',
      },
      agents: { kind: 'count', value: 'n', range: [1], about: 'maximum number of agents' },
      tokens: { kind: 'count', value: 'n', range: [1], about: 'maximum tokens' },
      usd: {
        kind: 'amount',
        value: 'dollars',
        about: 'maximum dollars, like 0.50',
      },
      minutes: { kind: 'count', value: 'n', range: [1], about: 'time limit in minutes' },
      concurrency: { kind: 'count', value: 'n', range: [1], about: 'maximum agents at a time' },
      yes: { kind: 'switch', about: 'do not ask before it runs' },
      unsafe: { kind: 'switch', about: 'run it without walls where bubblewrap is missing' },
      detach: { kind: 'switch', short: 'd', about: 'do not wait for the end' },
    },
    examples: [
      { line: 'sm workflow run audit', does: 'shows what it will do, and asks' },
      { line: `sm workflow run ./tidy.ts --args '{"folder":"src"}' --yes`, does: 'a script of your own' },
    ],
  },
  'workflow resume': {
    group: 'people',
    summary: 'resume a workflow that has stopped',
    needs: 'daemon',
    answers: 'resumeWorkflow',
    arguments: { id: aWorkflow },
    examples: [{ line: 'sm workflow resume crew-1749a2fe', does: 'for example after the disk was full' }],
  },
  'workflow fork': {
    group: 'people',
    summary: 'start a new workflow from the finished steps of a script',
    needs: 'daemon',
    answers: 'forkWorkflow',
    arguments: { id: aWorkflow },
    options: {
      before: { kind: 'text', value: 'step', about: 'keep only what was done before this step' },
      unsafe: { kind: 'switch', about: 'run it without walls where bubblewrap is missing' },
    },
    examples: [
      { line: 'sm workflow fork audit-1749a2fe --before agent#2', does: 'asks the second agent again' },
    ],
  },
  'workflow cancel': {
    group: 'people',
    summary: 'end a workflow and all its agents',
    needs: 'daemon',
    answers: 'cancelWorkflow',
    arguments: { id: aWorkflow, reason: { takes: 'optional', about: 'why', mayBeBlank: true } },
    examples: [{ line: 'sm workflow cancel crew-1749a2fe', does: 'what was done so far is kept' }],
  },
})
