import * as z from 'zod'

const Text = z.string().max(10_000)
const Texts = z.record(z.string().min(1).max(200), Text)

/** An MCP server, written as in Claude Code's `mcpServers`; `${NAME}` stands for a variable of the environment. */
export const McpServer = z.union(
  [
    z.strictObject({
      type: z.literal('stdio').optional(),
      command: z.string().min(1).max(4096).describe('Program to run as the server.'),
      args: z.array(Text).max(200).default([]).describe('Its arguments.'),
      env: Texts.default({}).describe(
        'Variables that it gets; keys and tokens of the daemon are included only if named here.',
      ),
    }),
    z.strictObject({
      type: z.enum(['http', 'streamable-http']),
      url: z.string().min(1).max(4096).describe('Address of the server.'),
      headers: Texts.default({}).describe('Headers of every request.'),
    }),
  ],
  { error: 'expected {command, args, env} or {type: http, url, headers}' },
)
export type McpServer = z.infer<typeof McpServer>
