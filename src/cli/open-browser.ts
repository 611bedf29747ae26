import { spawn } from 'node:child_process'

const startsInMs = 1500

/** Asks the desktop to open an address; false when there is no desktop, or no program for it. */
export async function openBrowser(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const isMac = process.platform === 'darwin'
  if (!isMac && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return false
  const child = spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true })
  return new Promise((resolve) => {
    // Some openers stay as long as the browser does; one that has not failed by now has worked.
    const timer = setTimeout(() => {
      child.unref()
      resolve(true)
    }, startsInMs)
    const settle = (opened: boolean) => {
      clearTimeout(timer)
      resolve(opened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
