/** A note of the CLI to itself that something in the background has ended. */
export type TaskNotification = { readonly taskId: string; readonly status?: string; readonly result?: string }

/** Whether a prompt is such a note, and not of a person. */
export const isTaskNotification = (prompt: string): boolean =>
  prompt.trimStart().startsWith('<task-notification>')

/** Reads the note; nothing when the text is none. */
export function taskNotification(prompt: string): TaskNotification | undefined {
  const taskId = isTaskNotification(prompt) ? tagIn(prompt, 'task-id') : undefined
  if (taskId === undefined) return undefined
  const [status, result] = [tagIn(prompt, 'status'), tagIn(prompt, 'result')]
  return { taskId, ...(status !== undefined && { status }), ...(result !== undefined && { result }) }
}

function tagIn(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`)
  // The result is a text of the agent's own and may hold anything, its closing tag too.
  const end = text.lastIndexOf(`</${tag}>`)
  return start < 0 || end < start ? undefined : text.slice(start + tag.length + 2, end)
}
