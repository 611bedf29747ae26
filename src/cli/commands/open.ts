import type { DataCommand } from '../command-module.ts'
import { openBrowser } from '../open-browser.ts'
import { sshForward } from '../ssh-forward.ts'

export const open: DataCommand<'open'> = {
  run: async ({ print }, io) => {
    const client = await (await io.daemon()).client()
    const { url } = await client.createLoginLink({}, { signal: io.signal })
    const forward = sshForward(url, io.env)
    // A browser at this end of an SSH connection would open where nobody sees it.
    const opened = !print && !io.isJson && forward === undefined && (await openBrowser(url, io.env))
    return { url, opened, ...(forward === undefined ? {} : { forward }) }
  },
  render: ({ url, opened, forward }) =>
    [
      ...(forward === undefined ? [] : [`First, on your own machine: ${forward}`]),
      opened ? `Opened ${new URL(url).origin} in your browser.` : url,
    ].join('\n'),
}
