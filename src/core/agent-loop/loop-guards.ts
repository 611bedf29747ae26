/** What the guards remember of a run. */
export type GuardState = {
  readonly lastTurn: string
  readonly sameTurns: number
  readonly nudges: number
  readonly malformed: number
  readonly emptyAnswers: number
  readonly emptySearches: number
  /** The calls since something was changed: until then the same call has the same answer. */
  readonly calls: readonly string[]
}

/** A call of a turn and what came of it. */
export type SeenCall = {
  readonly tool: string
  readonly input: string
  readonly isMalformed: boolean
  readonly isEmptySearch: boolean
  /** It changed files. */
  readonly isChange: boolean
}

/** What a guard wants: a word to the model, or the end of the run with its reason. */
export type GuardAdvice = { readonly nudge?: string; readonly stop?: string }

export const unguarded: GuardState = {
  lastTurn: '',
  sameTurns: 0,
  nudges: 0,
  malformed: 0,
  emptyAnswers: 0,
  emptySearches: 0,
  calls: [],
}

const sameTurnsAllowed = 3
const nudgesAllowed = 2
const malformedAllowed = 4
const emptyAnswersAllowed = 1
const emptySearchesAllowed = 4
const sameCallsAllowed = 3
/** The same call long ago is no circle either. */
const callsRemembered = 60

const nameOf = ({ tool, input }: SeenCall): string => `${tool} ${input}`

/** Looks at last words: without any, nothing was answered, and a run that ended so would count as done. */
export function guardAnswer(
  before: GuardState,
  text: string,
): { readonly state: GuardState; readonly advice: GuardAdvice } {
  if (text.trim() !== '') return { state: { ...before, emptyAnswers: 0 }, advice: {} }
  const state = { ...before, emptyAnswers: before.emptyAnswers + 1 }
  if (state.emptyAnswers > emptyAnswersAllowed)
    return { state, advice: { stop: 'the model gave an empty answer again after a warning' } }
  return {
    state,
    advice: { nudge: 'Your answer was empty. Continue the work, or report the result.' },
  }
}

/** Looks at a turn: a model that turns in circles is told so, and stopped when that does not help. */
export function guardTurn(
  before: GuardState,
  { text, calls }: { readonly text: string; readonly calls: readonly SeenCall[] },
): { readonly state: GuardState; readonly advice: GuardAdvice } {
  const turn = JSON.stringify([text, calls.map(({ tool, input }) => [tool, input])])
  const sameTurns = turn === before.lastTurn ? before.sameTurns + 1 : 1
  const malformed = calls.some(({ isMalformed }) => isMalformed) ? before.malformed + 1 : 0
  const searches = calls.filter(({ isEmptySearch }) => isEmptySearch).length
  const emptySearches = searches === 0 && calls.length > 0 ? 0 : before.emptySearches + searches
  const isNew = calls.some(({ isChange }) => isChange) || before.calls.length >= callsRemembered
  const made = [...(isNew ? [] : before.calls), ...calls.map(nameOf)]
  const timesOf = (call: SeenCall) => made.filter((name) => name === nameOf(call)).length
  const repeated = calls.find((call) => timesOf(call) % sameCallsAllowed === 0)
  const state = {
    lastTurn: turn,
    sameTurns,
    nudges: before.nudges,
    malformed,
    emptyAnswers: 0,
    emptySearches,
    calls: made,
  }

  if (malformed >= malformedAllowed)
    return { state, advice: { stop: `the model sent ${malformed} calls in a row that could not be read` } }
  const nudge =
    sameTurns >= sameTurnsAllowed
      ? 'You have given the same answer several times. Do something else: another tool, other input, or the final answer.'
      : repeated
        ? `You have called ${repeated.tool} with the same input several times, and its answer will not change. Use what you know, or try something else.`
        : emptySearches >= emptySearchesAllowed
          ? 'Several searches found nothing. What you look for may not exist: look at the files themselves, or say so.'
          : undefined
  if (nudge === undefined) return { state, advice: {} }
  if (before.nudges >= nudgesAllowed)
    return { state, advice: { stop: 'the model kept repeating itself after two warnings' } }
  return {
    state: {
      ...state,
      nudges: before.nudges + 1,
      sameTurns: sameTurns >= sameTurnsAllowed ? 0 : sameTurns,
      emptySearches: emptySearches >= emptySearchesAllowed ? 0 : emptySearches,
    },
    advice: { nudge },
  }
}
