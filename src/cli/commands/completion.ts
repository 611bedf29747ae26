import type { DataCommand } from '../command-module.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'

const scripts: Readonly<Record<string, () => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

export const completion: DataCommand<'completion'> = {
  run: async ({ shell }) => ({ shell, script: scripts[shell]?.() ?? '' }),
  render: ({ script }) => script.trimEnd(),
}
