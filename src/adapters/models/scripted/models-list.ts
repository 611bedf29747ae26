const names = ['scripted', 'claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5.1-codex']
const geminiNames = ['scripted', 'gemini-2.5-pro', 'gemini-2.5-flash']

/** The list of models, in a shape that both Anthropic's and OpenAI's clients read. */
export const modelsList = () => ({
  object: 'list',
  data: names.map(modelEntry),
  has_more: false,
  first_id: names[0],
  last_id: names.at(-1),
})

/** One model by any name: none is refused, since none is called. */
export const modelEntry = (id: string) => ({
  id,
  object: 'model',
  type: 'model',
  display_name: id,
  owned_by: 'muster',
  created: 0,
  created_at: '2026-01-01T00:00:00Z',
})

export const geminiModelsList = () => ({ models: geminiNames.map(geminiModelEntry) })

export const geminiModelEntry = (id: string) => ({
  name: `models/${id}`,
  displayName: id,
  inputTokenLimit: 1_000_000,
  outputTokenLimit: 64_000,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
})
