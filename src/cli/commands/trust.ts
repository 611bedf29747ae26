import { resolve } from 'node:path'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError } from '../../contract/errors.ts'
import type { TrustView } from '../../contract/project-trust.ts'
import { defineCommands, type View } from '../command-module.ts'
import { ago, plural } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { table } from '../render/table.ts'
import { wrap } from '../render/text-width.ts'

/** What a project may run or loosen here. */
export const trustCommands = defineCommands({
  trust: {
    run: async ({ path, list, remove, yes }, io) => {
      const client = await (await io.daemon()).client()
      const during = { signal: io.signal }
      if (list && remove) throw new AppError('invalid', 'choose one of --list and --remove')
      const folder = resolve(io.cwd, path ?? '.')
      if (remove) return { projects: [await client.endTrust({ path: folder }, during)] }
      if (list) return client.listTrust(path === undefined ? {} : { path: folder }, during)
      const { projects } = await client.listTrust({ path: folder }, during)
      const [project] = projects
      if (!project) return { projects }
      const { root } = project
      const there = project.items.filter(({ state }) => state !== 'gone')
      const files = there.map(({ kind, file, sha256 }) => ({ kind, file, sha256 }))
      if (there.every(({ state }) => state === 'trusted')) {
        // Forgetting what is not there any more needs nobody's word.
        if (there.length === project.items.length) return { projects }
        if (there.length > 0) return { projects: [await client.trustProject({ root, files }, during)] }
        await client.endTrust({ path: root }, during)
        return { projects: [{ ...project, trusted_at: null, items: [] }] }
      }
      const view = { width: io.width(), now: io.now(), color: io.isColored }
      for (const line of renderProject(project, view)) io.say(line)
      if (!yes && !io.canAsk)
        throw new AppError(
          'invalid',
          `nobody is there to ask, so nothing was trusted in ${root}; add --yes once you have read what it would do`,
          { details: project },
        )
      if (!yes && !(await io.confirm('Trust all of this, as it is now?')))
        throw new AppError('conflict', 'nothing was trusted')
      return { projects: [await client.trustProject({ root, files }, during)] }
    },
    render: renderTrust,
  },
})

const stateWords: Record<TrustView['items'][number]['state'], string> = {
  trusted: 'trusted',
  ended: 'changed',
  gone: 'not used',
  untrusted: 'held back',
}

/** Projects with what is trusted of them. */
export function renderTrust(
  { projects }: CommandOutput<'trust'>,
  view: View,
  { list, remove }: { readonly list: boolean; readonly remove: boolean },
): string {
  if (remove) return projects.map(({ root }) => `${oneLine(root)} is no longer trusted.`).join('\n')
  if (projects.length === 0) return 'No project is trusted.'
  const [project] = projects
  if (!list && project) {
    const count = project.items.filter(({ state }) => state === 'trusted').length
    // What it is was shown before the question.
    return count > 0
      ? `Trusted ${plural(count, 'file')} in ${oneLine(project.root)}. A file that changes is held back again.`
      : [`Nothing in ${oneLine(project.root)} needs trust.`, ...notesOf(project, view)].join('\n')
  }
  return projects.map((one) => [...renderProject(one, view), summaryOf(one)].join('\n')).join('\n\n')
}

/** Nothing is cut: what a person agrees to is read to its end. */
function renderProject(project: TrustView, view: View): string[] {
  const paint = painter(view.color)
  const when = project.trusted_at === null ? '' : `, trusted ${ago(project.trusted_at, view.now)}`
  const [titles = '', ...rows] = table(
    project.items,
    [
      { title: 'STATE', cell: ({ state }) => stateWords[state] },
      { title: 'KIND', cell: ({ kind }) => kind },
      { title: 'SHA256', cell: ({ sha256 }) => sha256.slice(0, 12) },
      { title: 'FILE', cell: ({ file }) => file },
    ],
    view.width,
  ).split('\n')
  return [
    `${paint('bold', oneLine(project.root))}${when}`,
    titles,
    ...project.items.flatMap(({ file, says }, i) => {
      const row = rows[i] ?? ''
      const whole = row.endsWith(oneLine(file)) ? [] : [file]
      const below = [...whole, ...says].flatMap((words) => wrap(oneLine(words), view.width - 4))
      return [row, ...below.map((line) => `    ${line}`)]
    }),
    ...notesOf(project, view),
  ]
}

/** Indented, so that no word of a project begins a line. */
const notesOf = ({ notes }: TrustView, { width }: View): string[] =>
  notes.flatMap((note) => {
    const lines = wrap(oneLine(`Not covered: ${note}.`), width - 4)
    return lines.map((line, i) => (i === 0 ? line : `    ${line}`))
  })

function summaryOf({ items }: TrustView): string {
  const held = items.filter(({ state }) => state === 'untrusted' || state === 'ended').length
  return held === 0
    ? 'All of it is trusted, until a file changes.'
    : `${plural(held, 'file')} held back; sm trust shows and trusts what is there now.`
}
