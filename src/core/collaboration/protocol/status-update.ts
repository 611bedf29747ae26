import type { Talk, Utterance } from './talk.ts'

type News = {
  readonly from: string
  readonly taskId?: string
  readonly words: string
  readonly percent?: number
  readonly files?: readonly string[]
}

/** News for the one who coordinates: progress when it is about a task, else how the agent stands. */
export function statusUpdate({ orchestrator: to }: Talk, news: News): Utterance {
  const { from, taskId, words, percent, files } = news
  if (taskId === undefined)
    return { type: 'status_response', from, to, payload: { state: 'working', detail: words } }
  return {
    type: 'task_progress',
    from,
    to,
    payload: {
      task_id: taskId,
      current_step: words,
      ...(percent === undefined ? {} : { progress_percent: Math.min(100, Math.max(0, percent)) }),
      ...(files === undefined ? {} : { files_modified_so_far: [...files] }),
    },
  }
}
