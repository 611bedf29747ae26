import { decodeEntities } from './html-entities.ts'
import { textLayout } from './text-layout.ts'

/** What is between these is not for readers. */
const unread = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'canvas',
  'math',
])
const paragraphs = new Set(
  'p ul ol dl table blockquote pre h1 h2 h3 h4 h5 h6 figure hr article section main'.split(' '),
)
const lines = new Set(
  'div li tr dt dd header footer nav aside form fieldset address figcaption option br title'.split(' '),
)
const mostTagChars = 4000
const mostTags = 200_000

/** The text of a page, with headings, lists, links and code marked as in Markdown. Nothing waits while it runs: it ends at the most that is wanted. */
export function htmlToText(html: string, base: URL, mostChars: number): string {
  const layout = textLayout()
  const links: (string | undefined)[] = []
  let at = 0
  for (let tags = 0; at < html.length && tags < mostTags && layout.length() <= mostChars; tags += 1) {
    const begin = html.indexOf('<', at)
    layout.text(decodeEntities(html.slice(at, begin === -1 ? html.length : begin).slice(0, mostChars + 1)))
    if (begin === -1) break
    const tag = readTag(html, begin)
    at = tag.end
    if (tag.name === '') {
      layout.text(tag.source)
      continue
    }
    if (!tag.isEnd && unread.has(tag.name)) {
      at = endOf(html, tag.end, tag.name)
      continue
    }
    if (tag.name === 'a') markLink(tag, { layout, links, base })
    else mark(tag, layout)
  }
  return layout.result().replaceAll(/\[\s*\]\([^()\s]*\)/g, '')
}

type Tag = {
  /** In lower case; empty when it is none, and `?` when it is a comment or the like. */
  readonly name: string
  readonly isEnd: boolean
  readonly source: string
  readonly end: number
}

type Layout = ReturnType<typeof textLayout>

function readTag(html: string, begin: number): Tag {
  const after = html.slice(begin, begin + 40)
  if (after.startsWith('<!--')) return { ...none, name: '?', end: past(html, '-->', begin + 4) }
  if (/^<[!?]/.test(after)) return { ...none, name: '?', end: past(html, '>', begin + 2) }
  const [, slash, name] = /^<(\/?)([a-z][a-z0-9-]*)/i.exec(after) ?? []
  if (name === undefined) return { ...none, source: '<', end: begin + 1 }
  let end = begin + 1
  for (let quote = ''; end < html.length; end += 1) {
    const char = html[end] as string
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '>') break
    else if ((char === '"' || char === "'") && html[end - 1] === '=') quote = char
  }
  const source = html.slice(begin, Math.min(end, begin + mostTagChars))
  return { name: name.toLowerCase(), isEnd: slash === '/', source, end: end + 1 }
}

const none = { name: '', isEnd: false, source: '', end: 0 }

const past = (html: string, mark: string, from: number): number => {
  const found = html.indexOf(mark, from)
  return found === -1 ? html.length : found + mark.length
}

/** The end tag of an element whose content is no markup. */
function endOf(html: string, from: number, name: string): number {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  closing.lastIndex = from
  const found = closing.exec(html)
  return found ? past(html, '>', found.index) : html.length
}

function mark({ name, isEnd, source }: Tag, layout: Layout): void {
  if (paragraphs.has(name)) layout.breakLines(2)
  else if (lines.has(name)) layout.breakLines(1)
  if (name === 'pre') layout.setPreformatted(!isEnd)
  else if (name === 'code' && !layout.isPreformatted()) layout.text('`')
  else if (isEnd) return
  else if (/^h[1-6]$/.test(name)) layout.before(`${'#'.repeat(Number(name[1]))} `)
  else if (name === 'li') layout.before('- ')
  else if (name === 'td' || name === 'th') layout.before(' | ')
  else if (name === 'hr') layout.before('---')
  else if (name === 'img') layout.text(decodeEntities(attribute(source, 'alt') ?? ''))
}

type Linking = { readonly layout: Layout; readonly links: (string | undefined)[]; readonly base: URL }

function markLink({ isEnd, source }: Tag, { layout, links, base }: Linking): void {
  if (isEnd) {
    const link = links.pop()
    if (link !== undefined) layout.after(`](${link})`)
    return
  }
  const target = attribute(source, 'href')
  const url =
    target === undefined || target.startsWith('#')
      ? null
      : URL.parse(decodeEntities(target.trim()), base.href)
  const link =
    url && /^https?:$/.test(url.protocol) ? url.href.replaceAll('(', '%28').replaceAll(')', '%29') : undefined
  links.push(link)
  if (link !== undefined) layout.before('[')
}

function attribute(source: string, name: string): string | undefined {
  const found = new RegExp(`[\\s"']${name}=(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(source)
  return found ? (found[1] ?? found[2] ?? found[3]) : undefined
}
