import * as z from 'zod'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { type Deadline, within } from './within.ts'

/** What came of asking an endpoint for its models. */
export type AskedModels =
  | { readonly models: readonly string[] }
  | { readonly models?: undefined; readonly why: string }

const longestMs = 2000
const mostBytes = 1 << 20
const mostModels = 500

/** Foreign input: only what is needed of it is looked at. */
const List = z.object({ data: z.array(z.object({ id: z.string().min(1).max(200) })) })

/** Asks an OpenAI-compatible endpoint which models it has; a short wait, since it is mostly on this machine. */
export async function askModels(
  { baseUrl, key }: { baseUrl: string; key: string },
  deadline: Deadline,
): Promise<AskedModels> {
  const { origin } = new URL(baseUrl)
  const asked = await within(deadline, longestMs, (signal) =>
    ask(`${baseUrl.replace(/\/$/, '')}/models`, { key, signal }),
  )
  if (!asked) return { why: `no answer from ${origin} in ${longestMs / 1000} s` }
  if (asked === 'nothing there') return { why: `nothing listens at ${origin}` }
  if (asked.status === 401 || asked.status === 403)
    return { why: `${origin} refuses the key (HTTP ${asked.status})` }
  // It is there and has no list to give; a model may still be named.
  if (asked.status === 404 || asked.status === 405) return { models: [] }
  if (asked.status !== 200) return { why: `${origin} answers HTTP ${asked.status}` }
  const list = List.safeParse(foreignJson(asked.text))
  if (!list.success) return { why: `${origin} answers, but not with a list of models; is base_url right?` }
  return { models: list.data.data.slice(0, mostModels).map(({ id }) => id) }
}

async function ask(
  url: string,
  { key, signal }: { key: string; signal: AbortSignal },
): Promise<{ status: number; text: string } | 'nothing there'> {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  try {
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    return { status: response.status, text: await boundedText(response) }
  } catch (error) {
    if (signal.aborted) throw error
    // Refused, no such host, a broken answer: fetch has one face for all of them, and none is a model.
    if (error instanceof TypeError) return 'nothing there'
    throw error
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > mostBytes) break
  }
  return text
}
