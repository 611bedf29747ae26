import { commandFamily } from './command.ts'

/** What is configured: settings, agents, crews, redaction, the shell. */
export const settingsCommands = commandFamily({
  'config show': {
    group: 'people',
    summary: 'print the current settings',
    needs: 'offline',
    options: { origin: { kind: 'switch', about: 'show where each value was set' } },
    examples: [{ line: 'sm config show --origin', does: 'each value with its file and line' }],
  },
  'agents list': {
    group: 'people',
    summary: 'list the agent definitions found here',
    needs: 'offline',
    examples: [{ line: 'sm agents list', does: "the project's, yours, and the shipped ones" }],
  },
  'agents show': {
    group: 'people',
    summary: 'print one agent definition',
    needs: 'offline',
    arguments: { name: { takes: 'one', about: 'its name or an alias, in any case' } },
    examples: [{ line: 'sm agents show reviewer', does: 'its tools, policy and prompt' }],
  },
  'agents check': {
    group: 'people',
    summary: 'report what is wrong in agent definitions',
    needs: 'offline',
    examples: [{ line: 'sm agents check', does: 'exit 1 when a definition was skipped' }],
  },
  'agents new': {
    group: 'people',
    summary: 'write a new agent definition to start from',
    needs: 'offline',
    arguments: { name: { takes: 'one', about: 'what it is called: letters, digits, - and _' } },
    options: {
      kind: {
        kind: 'text',
        value: 'kind',
        choices: ['main', 'subagent'],
        about: 'main takes tasks from people (the default), subagent works for a main agent',
      },
      from: { kind: 'text', value: 'agent', about: 'copy this agent instead of a sample' },
      user: { kind: 'switch', about: "write to your own agents instead of the project's" },
    },
    examples: [
      {
        line: 'sm agents new migrator --kind subagent',
        does: 'writes agents/migrator.md, with each field explained',
      },
      {
        line: 'sm agents new strict-reviewer --from reviewer --user',
        does: 'a copy to change, in your own agents',
      },
    ],
  },
  'crews list': {
    group: 'people',
    summary: 'list the crews found here',
    needs: 'offline',
    examples: [{ line: 'sm crews list', does: "the project's, yours, and the shipped ones" }],
  },
  'crews show': {
    group: 'people',
    summary: 'print one crew with its members',
    needs: 'offline',
    answers: 'getCrew',
    arguments: { name: { takes: 'one', about: 'its name or an alias, in any case' } },
    examples: [{ line: 'sm crews show balanced', does: 'who takes part, limits and checks' }],
  },
  'crews check': {
    group: 'people',
    summary: 'report what is wrong in crew files',
    needs: 'offline',
    examples: [{ line: 'sm crews check', does: 'exit 1 when a crew was skipped' }],
  },
  trust: {
    group: 'people',
    summary: 'trust what a project could run or loosen',
    needs: 'daemon',
    arguments: {
      path: { takes: 'optional', about: 'a folder of the project; this one when left out', isFile: true },
    },
    options: {
      list: { kind: 'switch', about: 'show what is trusted, and what has changed since' },
      remove: { kind: 'switch', about: 'end the trust of the project' },
      yes: { kind: 'switch', short: 'y', about: 'do not ask' },
    },
    examples: [
      { line: 'sm trust', does: 'shows what this project would run, then asks' },
      { line: 'sm trust --list', does: 'every trusted project, and files that changed' },
      { line: 'sm trust --remove ~/src/tool', does: 'its programs do not run any more' },
    ],
  },
  models: {
    group: 'people',
    summary: 'list the models that can be used, and the default',
    needs: 'daemon',
    answers: 'listModels',
    examples: [{ line: 'sm models', does: 'each provider, its models, and what is missing' }],
  },
  'redact test': {
    group: 'maintenance',
    summary: 'show what would be redacted in a text',
    needs: 'offline',
    arguments: { file: { takes: 'one', about: 'the text to look at; - is standard input', isFile: true } },
    examples: [{ line: 'sm redact test notes.txt', does: 'each place, and the rule that found it' }],
  },
  completion: {
    group: 'maintenance',
    summary: 'print a shell completion script',
    needs: 'none',
    arguments: { shell: { takes: 'one', about: 'which shell', choices: ['bash', 'zsh', 'fish'] } },
    examples: [
      { line: 'source <(sm completion bash)', does: 'complete in this bash' },
      { line: 'sm completion fish > ~/.config/fish/completions/sm.fish', does: 'for good, in fish' },
    ],
  },
})
