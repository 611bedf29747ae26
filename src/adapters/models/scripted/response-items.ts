import { type Answer, fieldsText, type ToolCall } from './answer.ts'

/** What the output of a response consists of. */
export type ResponseItem =
  | { id: string; type: 'reasoning'; summary: [{ type: 'summary_text'; text: string }] }
  | {
      id: string
      type: 'message'
      role: 'assistant'
      status: 'completed'
      content: [{ type: 'output_text'; text: string; annotations: never[] }]
    }
  | (CallHead & { type: 'function_call'; namespace?: string; arguments: string })
  | (CallHead & { type: 'custom_tool_call'; namespace?: string; input: string })

type CallHead = { id: string; status: 'completed'; call_id: string; name: string }

/** The answer as items: thoughts, words and calls are apart. */
export function responseItems({ id, thinking, text, calls }: Answer): ResponseItem[] {
  const items: ResponseItem[] = []
  if (thinking)
    items.push({ id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: thinking }] })
  if (text)
    items.push({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    })
  return [...items, ...calls.map((call, index) => callItem(call, `${id}_${index}`))]
}

function callItem(call: ToolCall, id: string): ResponseItem {
  const { input, name } = call
  const head = { status: 'completed', call_id: call.id ?? `call_${id}`, name } as const
  const namespace = call.namespace === undefined ? {} : { namespace: call.namespace }
  if (typeof input === 'string')
    return { id: `ctc_${id}`, type: 'custom_tool_call', ...head, ...namespace, input }
  return { id: `fc_${id}`, type: 'function_call', ...head, ...namespace, arguments: fieldsText(call) }
}
