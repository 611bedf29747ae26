/** How far a key moves among so many lines, of which a page is shown; nothing when it moves nothing. */
export function motionOf(key: string, { page, total }: { page: number; total: number }): number | undefined {
  switch (key) {
    case 'j':
    case '<down>':
    case '<c-n>':
      return 1
    case 'k':
    case '<up>':
    case '<c-p>':
      return -1
    case '<pagedown>':
    case '<c-f>':
      return Math.max(1, page - 1)
    case '<pageup>':
    case '<c-b>':
      return -Math.max(1, page - 1)
    case '<c-d>':
      return Math.max(1, page >> 1)
    case '<c-u>':
      return -Math.max(1, page >> 1)
    case 'g':
    case '<home>':
      return -total
    case 'G':
    case '<end>':
      return total
    default:
      return undefined
  }
}
