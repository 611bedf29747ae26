/** Who tries next what others could not do: in turn after the last, who has not tried it yet; when all have, the next. */
export function nextToTry<T extends { readonly id: string }>(
  all: readonly T[],
  tried: readonly string[],
): T | undefined {
  const after = all.findIndex(({ id }) => id === tried.at(-1)) + 1
  const inTurn = [...all.slice(after), ...all.slice(0, after)]
  return inTurn.find(({ id }) => !tried.includes(id)) ?? inTurn[0]
}
