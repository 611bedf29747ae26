/** Tools by which an agent only speaks or plans: no role has to name them. */
export const freeTools: readonly string[] = ['AskUserQuestion', 'TodoWrite', 'EnterPlanMode', 'ExitPlanMode']
