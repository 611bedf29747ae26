import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ToolOutcome } from '../../ports/tools.ts'
import { boundedOutput } from '../system/bounded-output.ts'

const mostChars = 30_000

/** What a model is told of a result; what is no text is named. */
export function outcomeOf({ content, structuredContent, isError = false }: CallToolResult): ToolOutcome {
  const output = boundedOutput(mostChars)
  const blocks = content.map(textOf)
  if (blocks.length === 0 && structuredContent !== undefined) blocks.push(JSON.stringify(structuredContent))
  for (const [i, text] of blocks.entries()) output.add(i === 0 ? text : `\n${text}`)
  const { text, isTruncated } = output.result()
  return {
    text: text.trim() === '' ? '[no output]' : text,
    isError,
    ...(isTruncated && { isTruncated: true as const }),
  }
}

function textOf(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, not shown]`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource: ${block.resource.uri}, not shown]`
    case 'resource_link':
      return `[${block.name}](${block.uri})`
    default:
      return block satisfies never
  }
}
