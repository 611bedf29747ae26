import type { Dialog } from '../../../contract/signal.ts'
import { present } from './present.ts'
import type { DialogRule, ScreenRules } from './screen-rules.ts'

/** Finds the dialog that has taken the place of the box. */
export function findDialog(lines: readonly string[], rules: ScreenRules): Dialog | undefined {
  for (const rule of rules.dialogs) {
    const at = lines.findLastIndex((line) => rule.has.test(line))
    const parting = lines.slice(0, Math.max(0, at)).findLastIndex((line) => rules.parting.test(line))
    // Without a line above it, it is something that was said.
    if (at < 0 || parting < 0) continue
    return {
      kind: rule.kind,
      title: titleOf(lines, { rule, at, parting }),
      ...(rule.kind === 'permission' && bodyOf(lines.slice(parting + 1, at))),
      ...optionsBelow(lines.slice(isFooter(rule) ? parting : at), rules),
    }
  }
  return undefined
}

type Found = { readonly rule: DialogRule; readonly at: number; readonly parting: number }

function titleOf(lines: readonly string[], { rule, at, parting }: Found): string {
  const from = rule.title === 'itself' ? at : rule.title === 'next' ? at + 1 : parting + 1
  const [title = '', more = ''] = lines
    .slice(from)
    .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  return column(title.endsWith(':') ? `${title} ${more}` : title)
}

/** What is asked about stands between the heading and the question; the lines around it only set it apart. */
function bodyOf(lines: readonly string[]): Pick<Dialog, 'body'> {
  const [, ...body] = lines.map((line) => line.trim()).filter((line) => line !== '' && !/^╌+$/.test(line))
  return body.length > 0 ? { body: body.join('\n') } : {}
}

/** Told by its last line, it has its options above it. */
const isFooter = ({ title, kind }: DialogRule): boolean => title === 'heading' && kind !== 'permission'

/** What is set apart by blanks is a remark. */
const column = (text: string): string => text.split(/ {2,}/)[0] ?? ''

type Options = Pick<Dialog, 'options' | 'selected'>

function optionsBelow(lines: readonly string[], { numbered, pointed }: ScreenRules): Options {
  const options: string[] = []
  let selected: number | undefined
  for (const line of lines) {
    const found = numbered.exec(line)?.groups
    if (!found || Number(found['number']) !== options.length + 1) continue
    if (found['pointer']) selected = options.length
    options.push(column(found['label'] ?? ''))
  }
  return options.length > 0 ? { options, ...present({ selected }) } : unnumbered(lines, pointed)
}

/** Options without numbers: the one that is pointed at, and its neighbours that begin in the same column. */
function unnumbered(lines: readonly string[], pointed: RegExp): Options {
  const at = lines.findIndex((line) => pointed.test(line))
  const found = pointed.exec(lines[at] ?? '')?.groups
  if (!found) return { options: [] }
  const beside = new RegExp(`^ {${(found['indent'] ?? '').length + 2}}\\S`)
  const before = lines.slice(0, at).toReversed()
  const after = lines.slice(at + 1)
  const above = untilNot(before, beside).toReversed()
  const options = [...above, found['label'] ?? '', ...untilNot(after, beside)].map((line) => line.trim())
  return { options, selected: above.length }
}

function untilNot(lines: readonly string[], pattern: RegExp): readonly string[] {
  const end = lines.findIndex((line) => !pattern.test(line))
  return end < 0 ? lines : lines.slice(0, end)
}
