/** Tool names that start a sub-agent; a file that Muster writes has only `Task`. */
export const delegationTools: ReadonlySet<string> = new Set([
  'Task',
  'Agent',
  'delegate_to_agent',
  'sm.spawn',
  'sm spawn',
  'workflow.agent',
])
