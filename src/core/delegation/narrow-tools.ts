/** The tools of a role that a piece of work may use; without a list of its own, all of them. */
export function narrowTools(
  role: readonly string[],
  allowed: readonly string[] | undefined,
): readonly string[] {
  if (allowed === undefined || allowed.includes('*')) return role
  return role.includes('*') ? allowed : role.filter((tool) => allowed.includes(tool))
}
