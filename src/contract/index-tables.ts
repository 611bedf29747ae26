/** How a column is kept. A word is a text that recurs: it is stored once and rows hold its number. */
export type ColumnKind = 'number' | 'text' | 'word'

/** Numbers of one table that are totals in another: when a row changes, the difference moves on. */
export type Carry = {
  readonly to: string
  /** Columns of this table that name the row of the other; a null among them carries nothing. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** One table of the index. A row is found by its key; `rowid` is the number rows are paged by. */
export type TableSpec = {
  readonly columns: Readonly<Record<string, ColumnKind>>
  readonly key: readonly string[]
  readonly rowid?: string
  readonly indexes: readonly { readonly columns: readonly string[]; readonly where?: string }[]
  readonly carries?: readonly Carry[]
}

/** Raised when a projection changes its meaning; an index of another version is built again. */
export const indexVersion = 3

const usage = {
  calls: 'number',
  unpriced: 'number',
  input: 'number',
  output: 'number',
  cacheRead: 'number',
  cacheWrite: 'number',
  reasoning: 'number',
  tokens: 'number',
  costNano: 'number',
} as const
const usageColumns = Object.keys(usage) as (keyof typeof usage)[]

const calls = { toolCompleted: 'number', toolFailed: 'number', toolDenied: 'number' } as const
const place = { sessionId: 'word', runId: 'word', traceId: 'word' } as const
const slices = { actor: 'word', workflowId: 'word', phase: 'word' } as const

/** Every table of the index: the one description from which schema, writer and queries are made. */
export const tables = {
  events: {
    columns: {
      seq: 'number',
      id: 'text',
      type: 'word',
      atMs: 'number',
      ...place,
      spanId: 'text',
      parentSpanId: 'text',
      taskId: 'word',
      ...slices,
      title: 'text',
    },
    key: ['seq'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['type'] }],
  },
  sessions: {
    columns: {
      sessionId: 'word',
      shortId: 'text',
      name: 'text',
      title: 'text',
      prompt: 'text',
      parentId: 'word',
      agentId: 'word',
      agentType: 'word',
      model: 'word',
      cli: 'word',
      workingDir: 'word',
      origin: 'word',
      foreignId: 'text',
      traceId: 'word',
      mode: 'word',
      pattern: 'word',
      lifecycle: 'word',
      activity: 'word',
      detail: 'text',
      milestone: 'text',
      friendlyName: 'text',
      task: 'text',
      completion: 'text',
      tmuxSession: 'text',
      depth: 'number',
      permissionMode: 'word',
      billing: 'word',
      firstSeq: 'number',
      lastSeq: 'number',
      lastType: 'word',
      firstMs: 'number',
      startedMs: 'number',
      endedMs: 'number',
      lastMs: 'number',
      events: 'number',
      messages: 'number',
      agents: 'number',
      handoffs: 'number',
      handoffLoops: 'number',
      ...calls,
      ...usage,
    },
    key: ['sessionId'],
    indexes: [
      { columns: ['shortId'] },
      { columns: ['name'] },
      { columns: ['friendlyName'], where: 'friendlyName IS NOT NULL' },
      { columns: ['foreignId'], where: 'foreignId IS NOT NULL' },
      { columns: ['parentId'], where: 'parentId IS NOT NULL' },
    ],
  },
  runs: {
    columns: {
      runId: 'word',
      sessionId: 'word',
      traceId: 'word',
      spanId: 'text',
      parentRunId: 'word',
      kind: 'word',
      agentId: 'word',
      agentType: 'word',
      model: 'word',
      task: 'text',
      taskId: 'word',
      workflowId: 'word',
      phase: 'word',
      depth: 'number',
      foreignId: 'text',
      activity: 'word',
      status: 'word',
      ending: 'word',
      detail: 'text',
      startedMs: 'number',
      endedMs: 'number',
      durationMs: 'number',
      declaredTokens: 'number',
      firstSeq: 'number',
      lastSeq: 'number',
      ...calls,
      ...usage,
    },
    key: ['runId'],
    indexes: [{ columns: ['sessionId'] }, { columns: ['parentRunId'], where: 'parentRunId IS NOT NULL' }],
  },
  tasks: {
    columns: {
      traceId: 'word',
      taskId: 'word',
      firstSeq: 'number',
      sessionId: 'word',
      runId: 'word',
      spanId: 'text',
      agentId: 'word',
      assignedBy: 'word',
      description: 'text',
      priority: 'word',
      dependencies: 'text',
      status: 'word',
      summary: 'text',
      errorType: 'word',
      round: 'number',
      verdict: 'word',
      assignments: 'number',
      assignedMs: 'number',
      endedMs: 'number',
    },
    key: ['traceId', 'taskId'],
    indexes: [{ columns: ['sessionId'] }],
  },
  messages: {
    columns: {
      seq: 'number',
      messageId: 'text',
      ...place,
      spanId: 'text',
      taskId: 'word',
      fromAgent: 'word',
      toAgent: 'word',
      messageType: 'word',
      sequenceNumber: 'number',
      correlationId: 'text',
      replyTo: 'text',
      mode: 'word',
      preview: 'text',
      state: 'word',
      detail: 'text',
      attempts: 'number',
      createdMs: 'number',
      queuedMs: 'number',
      deliveredMs: 'number',
      acceptedMs: 'number',
      failedMs: 'number',
    },
    key: ['messageId', 'sessionId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['correlationId'], where: 'correlationId IS NOT NULL' }],
  },
  approvals: {
    columns: {
      seq: 'number',
      approvalId: 'text',
      ...place,
      spanId: 'text',
      actor: 'word',
      subject: 'word',
      action: 'text',
      reason: 'text',
      risk: 'word',
      options: 'text',
      askedOf: 'word',
      timeoutMs: 'number',
      requestedMs: 'number',
      decision: 'word',
      decidedBy: 'word',
      decidedMs: 'number',
      scope: 'word',
      answer: 'text',
      latencyMs: 'number',
    },
    key: ['approvalId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['requestedMs'], where: 'decision IS NULL' }],
  },
  workflows: {
    columns: {
      seq: 'number',
      workflowId: 'text',
      ...place,
      name: 'word',
      version: 'word',
      status: 'word',
      phase: 'word',
      inputDigest: 'text',
      forkOf: 'text',
      startedMs: 'number',
      endedMs: 'number',
      steps: 'number',
      totalAgents: 'number',
      totalTokens: 'number',
      detail: 'text',
    },
    key: ['workflowId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }],
  },
  spans: {
    columns: {
      seq: 'number',
      spanId: 'text',
      parentSpanId: 'text',
      ...place,
      taskId: 'word',
      ...slices,
      kind: 'word',
      name: 'word',
      title: 'text',
      tool: 'word',
      model: 'word',
      callId: 'text',
      type: 'word',
      endType: 'word',
      status: 'word',
      detail: 'text',
      orphan: 'number',
      startedMs: 'number',
      endedMs: 'number',
      durationMs: 'number',
      tokens: 'number',
      costNano: 'number',
    },
    key: ['traceId', 'spanId'],
    rowid: 'seq',
    indexes: [
      { columns: ['sessionId'] },
      { columns: ['traceId'] },
      { columns: ['endType'], where: 'endType IS NULL' },
    ],
  },
  ledger: {
    columns: {
      seq: 'number',
      responseId: 'text',
      ...place,
      spanId: 'text',
      ...slices,
      day: 'number',
      atMs: 'number',
      provider: 'word',
      model: 'word',
      billing: 'word',
      source: 'word',
      finishReason: 'word',
      durationMs: 'number',
      reports: 'number',
      lastSeq: 'number',
      ...usage,
    },
    key: ['responseId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }],
    carries: [
      { to: 'sessions', key: ['sessionId'], columns: usageColumns },
      { to: 'runs', key: ['runId'], columns: usageColumns },
      { to: 'rollups', key: ['day', 'sessionId', 'actor', 'workflowId', 'phase'], columns: usageColumns },
      { to: 'spans', key: ['traceId', 'spanId'], columns: ['tokens', 'costNano'] },
    ],
  },
  rollups: {
    columns: {
      day: 'number',
      sessionId: 'word',
      ...slices,
      events: 'number',
      messages: 'number',
      agents: 'number',
      depths: 'number',
      depthSum: 'number',
      handoffs: 'number',
      handoffLoops: 'number',
      tasksCompleted: 'number',
      tasksFailed: 'number',
      tasksCancelled: 'number',
      approved: 'number',
      changesRequested: 'number',
      rejected: 'number',
      supported: 'number',
      refuted: 'number',
      inconclusive: 'number',
      granted: 'number',
      refused: 'number',
      expired: 'number',
      tokensBefore: 'number',
      tokensAfter: 'number',
      ...calls,
      ...usage,
    },
    key: ['day', 'sessionId', 'actor', 'workflowId', 'phase'],
    indexes: [{ columns: ['sessionId'] }],
  },
  parked: {
    columns: { follower: 'word', seq: 'number', error: 'text' },
    key: ['follower', 'seq'],
    indexes: [],
  },
} as const satisfies Record<string, TableSpec>

/** The tables by name. */
export type Tables = typeof tables
/** The name of a table. */
export type TableName = keyof Tables
/** Every table, in the order in which they are written. */
export const tableNames = Object.keys(tables) as TableName[]

type Columns<T extends TableName> = Tables[T]['columns']
/** Values for some columns of a table; undefined leaves a column as it is, null empties it. */
export type Values<T extends TableName> = {
  readonly [C in keyof Columns<T>]?: (Columns<T>[C] extends 'number' ? number : string) | null | undefined
}
/** Names of the number columns of a table. */
export type NumberColumn<T extends TableName> = {
  [C in keyof Columns<T>]: Columns<T>[C] extends 'number' ? C : never
}[keyof Columns<T>]
/** Amounts for some number columns of a table. */
export type Amounts<T extends TableName> = { readonly [C in NumberColumn<T>]?: number | undefined }
