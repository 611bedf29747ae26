import { AppError } from '../../contract/errors.ts'
import { quote } from './quote.ts'

/** The commands that press keys in a pane, in order. */
export function keyCommands(pane: string, keys: readonly string[]): readonly string[] {
  return keys.map((key) => {
    // Some versions swallow the named key; the byte that a terminal sends for it always arrives.
    if (key === 'Enter') return `send-keys -t '${pane}' -H 0d`
    if (/^\P{Cc}$/u.test(key)) return `send-keys -t '${pane}' -l -- ${quote(key)}`
    // A name that tmux does not know would be typed letter by letter.
    if (!named.test(key))
      throw new AppError(
        'invalid',
        `"${key}" is no key; use one character or a name such as Enter, Escape or C-c`,
      )
    return `send-keys -t '${pane}' -- ${quote(key)}`
  })
}

const named =
  /^(?:[CMS]-)*(?:Escape|Tab|BTab|BSpace|Space|Up|Down|Left|Right|Home|End|PageUp|PPage|PageDown|NPage|Insert|IC|Delete|DC|F(?:[1-9]|1[0-2])|(?<=-)[!-~])$/
