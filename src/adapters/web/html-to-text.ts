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

/** Puts pieces of text together: spaces collapse, blocks begin on lines of their own. */
function textLayout() {
  const parts: string[] = []
  let length = 0
  let breaks = 0
  let isSpaced = false
  let isGlued = true
  let isPreformatted = false

  const put = (text: string): void => {
    if (parts.length > 0) parts.push('\n'.repeat(breaks))
    if (isSpaced && breaks === 0 && !isGlued) parts.push(' ')
    parts.push(text)
    length += text.length + breaks
    breaks = 0
    isSpaced = false
    isGlued = false
  }

  return {
    text(text: string): void {
      if (isPreformatted) {
        if (text !== '') put(text)
        return
      }
      const words = text.replaceAll(/\s+/g, ' ')
      isSpaced ||= words.startsWith(' ')
      if (words.trim() !== '') put(words.trim())
      isSpaced ||= words.endsWith(' ')
    },
    /** The next piece begins on a new line, or after an empty one. */
    breakLines(count: 1 | 2): void {
      if (!isPreformatted) breaks = Math.max(breaks, count)
      else if (count === 1) put('\n')
    },
    /** Stands before what comes, with nothing between. */
    before(text: string): void {
      put(breaks > 0 || isGlued ? text.trimStart() : text)
      isGlued = true
    },
    /** Stands behind what came, with nothing between. */
    after(text: string): void {
      parts.push(text)
      isGlued = false
    },
    setPreformatted(isOn: boolean): void {
      if (isOn === isPreformatted) return
      if (isOn) put('```\n')
      else parts.push(parts.at(-1)?.endsWith('\n') ? '```' : '\n```')
      isPreformatted = isOn
      isGlued = isOn
      breaks = isOn ? 0 : 2
    },
    /** About how much there is so far. */
    length: (): number => length,
    isPreformatted: (): boolean => isPreformatted,
    result: (): string => parts.join('').trim(),
  }
}

/** Characters for the ways that HTML has to write them; what is not known stays as it is. */
const decodeEntities = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, (whole: string, name: string) => {
    if (!name.startsWith('#')) return Object.hasOwn(named, name) ? (named[name] as string) : whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : '\uFFFD'
  })

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  deg: '°',
  euro: '€',
  pound: '£',
  rarr: '→',
  larr: '←',
  para: '¶',
  sect: '§',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
}
