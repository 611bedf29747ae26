import { crewDaemon } from './crew-daemon.ts'
import type { Part } from './crew-model.ts'

/** An answer in the form that agents of a crew give. */
export const said = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
export const done = (summary: string, more: object = {}) => said({ status: 'completed', summary, ...more })
export const write = (file_path: string, content: string) => ({
  tools: [{ name: 'Write', input: { file_path, content } }],
})
export const bash = (command: string) => ({ tools: [{ name: 'Bash', input: { command } }] })

/** A task of a plan that the same models play. */
export const playedTask = (task_id: string, scope: readonly string[], more: object = {}) => ({
  task_id,
  title: `Do ${task_id}`,
  description: `All of ${task_id}. SCRIPT=play`,
  scope,
  acceptance_criteria: [],
  ...more,
})

/** A daemon whose models play the given parts. */
export async function played(parts: readonly Part[], crews: Readonly<Record<string, string>> = {}) {
  const m = await crewDaemon({ parts, crews })
  return { ...m, play: (request: string, more: object) => m.crew(`${request} SCRIPT=play`, more) }
}
