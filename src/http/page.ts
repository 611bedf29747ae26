import { existsSync, readFileSync } from 'node:fs'
import { AppError } from '../contract/errors.ts'
import { eventTypes } from '../contract/event.ts'

/** One file of the page, ready to send. */
export type PageFile = { readonly type: string; readonly text: string }

/** The page by request path. */
export type Page = ReadonlyMap<string, PageFile>

const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/feed.css', 'feed.css', 'text/css; charset=utf-8'],
  ['/page/feed.js', 'feed.js', 'text/javascript; charset=utf-8'],
  ['/page/feed-model.js', 'feed-model.js', 'text/javascript; charset=utf-8'],
  ['/page/icon.svg', 'icon.svg', 'image/svg+xml; charset=utf-8'],
] as const

/** Reads the page from the package, once, at start. */
export function loadPage(folder: URL | undefined = places.find(hasPage)): Page {
  if (!folder || !hasPage(folder))
    throw new AppError('failed', 'the files of the page are missing; install Muster again')
  return new Map(
    files.map(([path, file, type]) => {
      const text = readFileSync(new URL(file, folder), 'utf8')
      // A browser hears only the event names it was told, so the page is given the list.
      return [path, { type, text: text.replaceAll('{{types}}', eventTypes.join(' ')) }]
    }),
  )
}

// Beside this source, or, from the bundle, in the package that the bundle lies in.
const places = ['./page/', '../src/http/page/', '../../src/http/page/'].map(
  (place) => new URL(place, import.meta.url),
)
const hasPage = (folder: URL) => existsSync(new URL('index.html', folder))
