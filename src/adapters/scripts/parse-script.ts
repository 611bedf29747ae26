import { stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import { type Expression, type Program, parse } from 'acorn'
import { AppError } from '../../contract/errors.ts'
import { ScriptMeta } from '../../contract/script.ts'

/** What is known of a file of a script without running it: the files it imports, and of the first what it says of itself. */
export type ParsedScript = { readonly imports: readonly string[]; readonly meta?: ScriptMeta }

/** Parses a file. A text can be made to use up the stack, so that this is for a thread which may be lost. */
export function parseScript(name: string, text: string, isMain: boolean): ParsedScript {
  const program = treeOf(name, text)
  return { imports: importsOf(program, name), ...(isMain && { meta: metaOf(program, name) }) }
}

/** Types are taken out as Node does it when the script runs; lines stay where they are. */
function treeOf(name: string, text: string): Program {
  try {
    const script = name.endsWith('.mjs') ? text : stripTypeScriptTypes(text)
    return parse(script, { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  } catch (error) {
    const { message, stack = '', loc } = error as Error & { loc?: { line: number } }
    // Node says the line only in front of the stack.
    const line = loc?.line ?? /^:(\d+)\n/.exec(stack)?.[1]
    const [why = ''] = message.replace(/ \(\d+:\d+\)$/, '').split('\n', 1)
    throw new AppError('invalid', `${name}${line === undefined ? '' : `:${line}`}: ${why.slice(0, 500)}`)
  }
}

/** By their names from the folder of the script. */
function importsOf({ body }: Program, name: string): string[] {
  return body.flatMap((node) => {
    if (!('source' in node) || !node.source) return []
    const said = String(node.source.value)
    const path = posix.join(posix.dirname(name), said)
    if (/^\.{1,2}\//.test(said) && !path.startsWith('..')) return [path]
    throw new AppError(
      'invalid',
      `${name}:${node.loc?.start.line}: a script cannot import ${said}: only files next to it, at the top of a file`,
    )
  })
}

function metaOf({ body }: Program, main: string): ScriptMeta {
  if (!body.some(({ type }) => type === 'ExportDefaultDeclaration'))
    throw new AppError('invalid', `${main} exports no function: export default async function …`)
  const declared = body.flatMap((node) =>
    node.type === 'ExportNamedDeclaration' && node.declaration?.type === 'VariableDeclaration'
      ? node.declaration.declarations
      : [],
  )
  const found = declared.find(({ id }) => id.type === 'Identifier' && id.name === 'meta')
  if (!found?.init)
    throw new AppError('invalid', `${main}: meta is missing: export const meta = { name: …, description: … }`)
  const read = ScriptMeta.safeParse(valueOf(found.init, main))
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = ['meta', ...(issue?.path ?? [])].join('.')
  throw new AppError('invalid', `${main}: ${where}: ${issue?.message ?? 'it is missing'}`)
}

/** A value that is written out; whatever would have to run to be known is refused. */
function valueOf(node: Expression, main: string): unknown {
  const refused = () =>
    new AppError(
      'invalid',
      `${main}:${node.loc?.start.line}: meta is read without running the script; write it in plain values`,
    )
  switch (node.type) {
    case 'Literal':
      if (node.regex || node.bigint) throw refused()
      return node.value
    case 'TemplateLiteral':
      if (node.expressions.length > 0) throw refused()
      return node.quasis[0]?.value.cooked
    case 'BinaryExpression': {
      if (node.operator !== '+' || node.left.type === 'PrivateIdentifier') throw refused()
      const sides = [valueOf(node.left, main), valueOf(node.right, main)]
      if (sides.some((side) => typeof side !== 'string')) throw refused()
      return sides.join('')
    }
    case 'ArrayExpression':
      return node.elements.map((element) => {
        if (element === null || element.type === 'SpreadElement') throw refused()
        return valueOf(element, main)
      })
    case 'ObjectExpression':
      return Object.fromEntries(
        node.properties.map((property) => {
          if (property.type !== 'Property' || property.kind !== 'init' || property.computed) throw refused()
          const { key, value } = property
          if (key.type !== 'Identifier' && key.type !== 'Literal') throw refused()
          return [key.type === 'Identifier' ? key.name : String(key.value), valueOf(value, main)]
        }),
      )
    default:
      throw refused()
  }
}
