import * as z from 'zod'
import { McpServer } from '../mcp-server.ts'
import { GivenName } from './names.ts'

const Host = z
  .string()
  .max(255)
  .regex(
    /^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$/,
    'a host such as example.org, or *.example.org for every host below it',
  )

const Approval = z.strictObject({
  tool: z
    .string()
    .regex(/^(\*|[A-Za-z][A-Za-z0-9_-]*)$/, 'a tool is * or a bare name such as Bash')
    .describe('Tool that the rule is about; * means every one.'),
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('Glob over the command, path or address of the call; without it, the rule covers every call.'),
  action: z
    .enum(['allow', 'ask', 'deny'])
    .describe('allow runs the call, ask waits for a person to decide, deny refuses it.'),
})

/** How built-in agents are run. */
export const RuntimeConfig = z
  .strictObject({
    mode: z
      .enum(['chat', 'auto'])
      .default('auto')
      .describe(
        'chat runs one tool per turn with a person in the loop; auto works on its own until it is done.',
      ),
    max_iters: z
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe('Maximum turns of one run; a run that is not done by then has failed.'),
    on_restart: z
      .enum(['fail', 'resume'])
      .default('fail')
      .describe('What happens to a run when the daemon stops during it: fail ends it, resume continues it.'),
    max_concurrent: z
      .int()
      .min(1)
      .max(1000)
      .default(16)
      .describe('Maximum runs that use a model at a time; others wait for their turn.'),
    result_chars: z
      .int()
      .min(1000)
      .max(1_000_000)
      .default(30_000)
      .describe('Maximum characters of one tool result that a model gets.'),
    compact_at: z
      .number()
      .min(0.1)
      .max(1)
      .default(0.8)
      .describe("Share of the model's context window at which a conversation is summarised."),
    context_tokens: z
      .int()
      .min(1000)
      .max(100_000_000)
      .default(128_000)
      .describe('Context window in tokens of a model whose own is not known.'),
    approvals: z
      .array(Approval)
      .max(500)
      .default([])
      .describe(
        'Rules for tool calls, in order; the first match decides. Without a match, reading and changing within the gates of the agent is allowed, and WebFetch asks.',
      ),
    mcp_servers: z
      .record(GivenName, McpServer)
      .default({})
      .describe('MCP servers by name; an agent has those that its file names.'),
    web: z
      .strictObject({
        allow: z.array(Host).max(1000).default([]).describe('Hosts that WebFetch may read without asking.'),
        deny: z
          .array(Host)
          .max(1000)
          .default([])
          .describe('Hosts that WebFetch never reads, whatever else allows them.'),
      })
      .prefault({})
      .describe('Hosts that agents may fetch from.'),
  })
  .prefault({})
  .describe('How built-in agents are run.')
