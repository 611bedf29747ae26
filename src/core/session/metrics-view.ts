import type { MetricsView, ProgressView } from '../../contract/session-views.ts'

/** Progress by its three groups. */
export function metricsOf(progress: ProgressView): MetricsView {
  const { tokens_used, tokens_remaining_estimate, completion_percentage, estimate_basis, cost_usd } = progress
  const { tools_used, total_tools, last_tool } = progress
  const { status, current_activity, is_idle, idle_seconds, is_waiting_input, is_complete } = progress
  return {
    tokens: { tokens_used, tokens_remaining_estimate, completion_percentage, estimate_basis, cost_usd },
    tools: { tools_used, total_tools, last_tool },
    activity: { status, current_activity, is_idle, idle_seconds, is_waiting_input, is_complete },
  }
}
