import { stringify } from 'yaml'
import { type ConfigKey, configKeys } from '../../src/contract/config/config-keys.ts'

const head = `# Settings of Muster: copy this to ~/.config/muster/config.yaml (or where MUSTER_CONFIG points).
#
# Every line that begins with # and a letter is a setting with its default: take the # away to change it, together
# with those of the sections it is in. Everything else is explanation. Made by npm run docs; the same with more
# words is in config.md.
`

/** What free names may look like; the schema cannot say it. */
const samples: Readonly<Record<string, readonly string[]>> = {
  'claude.agent_configs': ['Engineer: { model: opus, args: [--verbose] }', 'tester: { cli: codex }'],
  'claude.presets': ['quick-fix: { model: sonnet, args: [--permission-mode, acceptEdits] }'],
  'models.providers': [
    'anthropic: { keyring: muster/anthropic }',
    'mine: { protocol: compatible, base_url: "http://10.0.0.7:8000/v1", key_env: MINE_API_KEY }',
  ],
  'runtime.approvals': [
    '[{ tool: Bash, pattern: "git push*", action: ask }, { tool: WebFetch, action: deny }]',
  ],
  clis: ['codex: { command: codex, args: [--search] }', 'mine: { command: my-agent, prompt: argument }'],
}

/** A configuration with every key, each at its default and explained, and all of them commented out. */
export function configExample(): string {
  const keys = configKeys().filter(({ key }) => !/[<[]/.test(key))
  return `${head}${keys.map(entry).join('\n')}\n`
}

function entry({ key, description, values, default: usual, isSection }: ConfigKey): string {
  const path = key.split('.')
  const indent = '  '.repeat(path.length - 1)
  const lines = wrapped(isSection ? description : `${description} Value: ${values}.`, indent)
  const sample = (samples[key] ?? []).map((line) => `${indent}# For example: ${line}`)
  const name = path.at(-1) ?? key
  const value = isSection ? '' : usual === undefined ? ' null' : ` ${inline(usual)}`
  const setting = `${indent}#${name}:${value}`
  // What has no default is only shown; taking its # away must not set it to nothing.
  const shown = usual === undefined && !isSection ? `${indent}# ${name}: (no default)` : setting
  return [...(path.length === 1 ? [''] : []), ...lines, ...sample, shown].join('\n')
}

const inline = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()

function wrapped(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + word.length + 3 > 110) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => `${indent}# ${one}`)
}
