import { AppError } from '../contract/errors.ts'
import type { Draft } from '../contract/event.ts'
import { fleet } from '../contract/ids.ts'
import { type Asker, muster } from '../contract/principal.ts'
import {
  mostTrusted,
  type ProjectInspection,
  type ProjectTrust,
  type TrustedFile,
  type TrustView,
} from '../contract/project-trust.ts'
import type { FileTrust } from '../ports/definitions.ts'
import type { Engine } from './engine.ts'

type Deps = {
  readonly engine: Pick<Engine, 'trust' | 'record'>
  /** Looks at the project that a folder is in. */
  readonly inspect: (path: string, signal: AbortSignal) => Promise<ProjectInspection>
  /** Writes down what is trusted now, for those who cannot ask. */
  readonly keep: () => Promise<void>
  readonly onBug: (error: unknown, where: string) => void
}

/** Which files of which projects may run programs and loosen rules: those that a person trusts, as they were then. */
export class TrustedProjects {
  readonly #deps: Deps
  /** Changes that were seen and are being written down. */
  readonly #ending = new Set<string>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Whether a file is trusted is asked with the digest of the very bytes that are then used. One that changed is not
   * trusted again when it changes back: somebody has to look at it.
   */
  in(root: string): FileTrust {
    return (file, sha256) => {
      if (this.asIn(root)(file, sha256)) return true
      if (this.#known(root, file).some(({ hasEnded }) => !hasEnded)) this.#noteChange(root, file)
      return false
    }
  }

  /** The same of a copy elsewhere, such as a work tree: that another file is there says nothing of the one trusted. */
  asIn(root: string): FileTrust {
    return (file, sha256) =>
      this.#known(root, file).some((known) => !known.hasEnded && known.sha256 === sha256)
  }

  /** One project, or all that are trusted, each compared with what is there now. */
  async list(path: string | undefined, signal: AbortSignal): Promise<TrustView[]> {
    const paths = path === undefined ? [...this.#deps.engine.trust().keys()] : [path]
    return Promise.all(
      paths.map(async (one) => {
        // A project that is gone is still listed, so that its trust can be ended.
        const gone = (error: unknown): ProjectInspection => {
          if (path !== undefined || !(error instanceof AppError)) throw error
          return { root: one, items: [], notes: [error.message] }
        }
        return this.#view(await this.#deps.inspect(one, signal).catch(gone))
      }),
    )
  }

  /** Trusts what a person was shown, and nothing that came to be since. */
  async trust(
    { root, files }: { readonly root: string; readonly files: readonly TrustedFile[] },
    by: Asker,
    signal: AbortSignal,
  ): Promise<TrustView> {
    const found = await this.#deps.inspect(root, signal)
    if (found.root !== root)
      throw new AppError('conflict', `${root} is not the root of a project; trust ${found.root}`)
    if (found.items.length > mostTrusted)
      throw new AppError('invalid', `${root} has more than ${mostTrusted} files that would be trusted`)
    if (digestOf(found.items) !== digestOf(files))
      throw new AppError('conflict', `${root} has changed since you looked; run sm trust again`)
    if (files.length === 0) throw new AppError('invalid', `${root} has nothing that could be trusted`)
    const payload = { root, files: found.items.map(({ says: _says, ...file }) => file), by: by.name }
    await this.#record(by, { type: 'project.trusted', payload })
    return this.#view(found)
  }

  /** Ends the trust of a project; it need not be there any more. */
  async end(path: string, by: Asker, signal: AbortSignal): Promise<TrustView> {
    const { engine, inspect } = this.#deps
    const root = engine.trust().has(path) ? path : (await inspect(path, signal)).root
    const known = engine.trust().get(root)
    if (!known) throw new AppError('not_found', `${root} is not trusted; sm trust --list shows what is`)
    await this.#record(by, { type: 'project.trust.ended', payload: { root, reason: 'removed', by: by.name } })
    const items = known.files.map(({ kind, file, sha256 }) => ({
      kind,
      file,
      sha256,
      says: [],
      state: 'ended' as const,
    }))
    return { root, trusted_at: known.trustedAt, items, notes: [] }
  }

  /** A file may be there as a script, with all that it imports, and as a program. */
  #known(root: string, file: string): ProjectTrust['files'] {
    return (this.#deps.engine.trust().get(root)?.files ?? []).filter((one) => one.file === file)
  }

  #view({ root, items, notes }: ProjectInspection): TrustView {
    const trusts = this.in(root)
    const known = this.#deps.engine.trust().get(root)
    const isThere = new Set(items.map(({ file }) => file))
    const gone = (known?.files ?? []).filter(({ file }) => !isThere.has(file))
    return {
      root,
      trusted_at: known?.trustedAt ?? null,
      items: [
        ...items.map(({ says, ...item }) => ({
          ...item,
          says: [...says],
          state: trusts(item.file, item.sha256)
            ? ('trusted' as const)
            : this.#known(root, item.file).length > 0
              ? ('ended' as const)
              : ('untrusted' as const),
        })),
        ...gone.map(({ kind, file, sha256 }) => ({ kind, file, sha256, says: [], state: 'gone' as const })),
      ],
      notes: [...notes],
    }
  }

  #noteChange(root: string, file: string): void {
    const key = `${root}\0${file}`
    if (this.#ending.has(key)) return
    this.#ending.add(key)
    this.#record(muster, {
      type: 'project.trust.ended',
      payload: { root, file, reason: 'changed', by: muster.name },
    })
      // What is not written now is noticed again at the next look.
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) this.#deps.onBug(error, 'trust of a project')
      })
      .finally(() => this.#ending.delete(key))
  }

  async #record({ name: actor, by }: Asker, fact: Pick<Draft, 'type' | 'payload'>): Promise<void> {
    await this.#deps.engine.record([{ ...fleet, actor, by, ...fact } as Draft])
    await this.#deps.keep()
  }
}

const digestOf = (files: readonly TrustedFile[]): string =>
  files
    .map(({ kind, file, sha256 }) => `${kind} ${file} ${sha256}`)
    .toSorted()
    .join('\n')
