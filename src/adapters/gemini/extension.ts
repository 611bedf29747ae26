import { join } from 'node:path'
import type { LaunchRequest } from '../../ports/agent-cli.ts'
import { decidingHook, tellingHook } from '../system/hook-command.ts'
import { extensionName } from './shadow-home.ts'

const events = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'Notification',
  'AfterAgent',
  'SessionEnd',
] as const
const shortlyMs = 10_000
/** A gate that is cut off lets the tool run, so it ends by itself long before this. */
const gateMs = 600_000

/** The files of an extension with our hooks and the text of a role, which Gemini adds to its instructions. */
export function extensionFiles(
  { hookCommand, role }: LaunchRequest,
  home: string,
): readonly { readonly path: string; readonly text: string; readonly mode: number }[] {
  const folder = join(home, 'extensions', extensionName)
  const hooks = events.map((event) => {
    const isGate = event === 'BeforeTool' && role?.tools !== undefined
    const command = (isGate ? decidingHook : tellingHook)([...hookCommand, event])
    const hook = { type: 'command', name: extensionName, command, timeout: isGate ? gateMs : shortlyMs }
    return [event, [{ hooks: [hook] }]]
  })
  const text = role?.text ?? ''
  const manifest = {
    name: extensionName,
    version: '1.0.0',
    ...(text !== '' && { contextFileName: 'ROLE.md' }),
  }
  const file = (name: string, content: string) => ({ path: join(folder, name), text: content, mode: 0o600 })
  return [
    file('gemini-extension.json', JSON.stringify(manifest)),
    file('hooks/hooks.json', JSON.stringify({ hooks: Object.fromEntries(hooks) })),
    ...(text === '' ? [] : [file('ROLE.md', text)]),
  ]
}
