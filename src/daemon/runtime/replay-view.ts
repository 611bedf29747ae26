import type { ReplayView } from '../../contract/runtime-routes.ts'
import type { Replay } from '../../runtime/replay/replay.ts'

/** A replay as it is answered; it never holds a text of the vault. */
export function replayView(replay: Replay): ReplayView {
  const runs = runsOf(replay)
  const isSame = runs.every(({ differences }) => differences.length === 0)
  return { verdict: !isSame ? 'different' : replay.record.isExact ? 'exact' : 'inexact', runs }
}

function runsOf({ record, end, differences, children }: Replay, parent?: Replay): ReplayView['runs'] {
  const turns = record.acts.filter((act) => act.kind === 'turn')
  const run: ReplayView['runs'][number] = {
    run_id: record.runId,
    ...(parent && { parent_run_id: parent.record.runId }),
    agent_id: record.agent,
    steps: turns.map(({ seq, turn }, i) => ({
      step: i + 1,
      seq,
      calls: turn.parts.flatMap((part) => (part.kind === 'call' ? [part.tool] : [])),
    })),
    recorded_end: record.end?.status ?? 'running',
    replayed_end: end?.status ?? 'cut off',
    differences: [...differences],
  }
  return [run, ...children.flatMap((child) => runsOf(child, { ...child, record }))]
}
