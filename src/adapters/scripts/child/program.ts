import { makeBranches } from './branches.ts'
import { scriptChild } from './main.ts'
import { seal } from './seal.ts'
import { makeSurface } from './surface.ts'

/** The program of a script's process, as the text that Node is given to run: it reads no file. */
export const childProgram = (): string => `
import { builtinModules, registerHooks } from 'node:module';
import { AsyncLocalStorage } from 'node:async_hooks';
(${scriptChild.toString()})({
  registerHooks,
  builtinModules,
  storage: new AsyncLocalStorage(),
  makeBranches: ${makeBranches.toString()},
  seal: ${seal.toString()},
  makeSurface: ${makeSurface.toString()},
  load: (url) => import(url),
  process,
})
`
