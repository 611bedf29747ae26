import type { Detector } from './detector.ts'

/** The password in `curl -u name:password`, also over continued lines. */
export const curlUser: Detector = {
  classes: ['basic-auth'],
  anchors: [{ text: 'curl' }],
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(/curl(?=[ \t])/g)) {
      const command = text.slice(match.index, match.index + maxCommand)
      const lineEnd = command.search(/(?<!\\)\r?\n/)
      const line = lineEnd === -1 ? command : command.slice(0, lineEnd)
      const user = option.exec(line)
      const [, password] = user?.indices ?? []
      if (password !== undefined && isPassword(line.slice(...password))) {
        found(match.index + password[0], match.index + password[1], 'basic-auth')
      }
      if (lineEnd === -1 && match.index + maxCommand >= text.length)
        undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const maxCommand = 600
const option = /[ \t](?:-u|--user|--proxy-user)[ \t=]{0,4}\\*["']?[^\s:"'$]{0,64}:([^\s"'$\\]{3,128})/d

function isPassword(value: string): boolean {
  return !/^[0-9]{1,6}$/.test(value) && !/^[<{]/.test(value)
}
