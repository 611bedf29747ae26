import { AppError } from '../../contract/errors.ts'
import type { Isolation } from '../../ports/isolation.ts'
import { askProgram } from '../system/ask-program.ts'
import { bwrapArgs, namespaces, type Surrounding } from './bwrap-args.ts'
import { privateHome } from './private-home.ts'
import { writableFor } from './writable-for.ts'

/** Walls by bubblewrap: namespaces of its own for processes and mounts, made without any privilege. */
export function bwrapIsolation(around: Surrounding & { readonly extra: () => readonly string[] }): Isolation {
  return {
    async writable(place, env, signal) {
      await mustWork(signal)
      return writableFor(place, { env, extra: around.extra(), hidden: around.hidden })
    },
    async wrap(request, signal) {
      await mustWork(signal)
      const homes = []
      for (const [i, home] of request.homes.entries())
        homes.push(await privateHome(home, `${request.folder}/home-${i}`))
      return ['bwrap', ...bwrapArgs(request, { ...around, homes: homes.flat() }), '--', ...request.argv]
    },
    state,
  }
}

async function mustWork(signal: AbortSignal): Promise<void> {
  const { isThere, detail, cure } = await state(signal)
  if (!isThere) throw new AppError('unavailable', `isolation by bwrap does not work here: ${detail}; ${cure}`)
}

/** Tries the very walls that sessions get. */
async function state(signal: AbortSignal): ReturnType<Isolation['state']> {
  const version = await askProgram('bwrap', ['--version'], { signal })
  if (version === undefined)
    return {
      isThere: false,
      detail: 'bwrap was not found',
      cure: 'install bubblewrap (Linux only), or spawn with --isolation none',
    }
  const tried = await askProgram('bwrap', [...namespaces, '--', 'true'], { signal })
  if (tried?.code === 0) return { isThere: true, detail: version.stdout.trim() }
  return {
    isThere: false,
    detail: `${version.stdout.trim()} fails: ${tried?.stderr.trim() || 'no answer'}`,
    cure:
      'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0,' +
      ' or a container that permits them), or spawn with --isolation none',
  }
}
