import { describe, expect, test } from 'vitest'
import { commands } from '../cli.ts'
import { freeCommand, freeCommands } from './free-commands.ts'

describe('what an agent may say with sm unasked', () => {
  test('[MUS-246] every one is a command, and none starts, decides, speaks to others or ends', () => {
    for (const name of freeCommands) expect(commands).toHaveProperty([name])
    for (const name of ['spawn', 'send', 'approve', 'reject', 'kill', 'interrupt', 'resume', 'adopt', 'hook'])
      expect(freeCommands).not.toContain(name)
  })

  test.each([
    'sm me',
    '  sm checkpoint "half way (1/2)"',
    "sm complete 'All 26 tests pass; done > 1' --json",
    'sm checkpoint "x" --metadata coverage=0.4',
    'sm all',
  ])('[MUS-246] %j is free', (command) => {
    expect(freeCommand.test(command)).toBe(true)
  })

  test.each([
    'sm spawn claude --permission-mode bypass hello',
    'sm',
    'smart me',
    'sm me; rm -rf .',
    'sm me && rm x',
    'sm me | sh',
    'sm me > file',
    'sm me\nrm x',
    'sm checkpoint "$(rm x)"',
    'sm checkpoint "`rm x`"',
    'sm checkpoint $HOME',
    'sm checkpoint x & rm y',
    'sm checkpoint "a\\" ; rm x; \\""',
    'X=1 sm me',
    './sm me',
    'sm mean',
    'sm checkpoint *',
    'sm checkpoint {a,b}',
  ])('[MUS-246] %j is asked for', (command) => {
    expect(freeCommand.test(command)).toBe(false)
  })

  test('[MUS-246] a hostile command is judged at once', () => {
    expect(freeCommand.test(`sm me ${'"" '.repeat(20_000)}${'a'.repeat(50_000)}$`)).toBe(false)
  })
})
