import { basename } from 'node:path'
import type { DaemonConfig } from '../adapters/config/load-config.ts'
import { findProject } from '../adapters/config/muster-paths.ts'
import { Journal } from '../adapters/jsonl/journal.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { missing } from '../adapters/system/foreign-files.ts'
import { systemIds } from '../adapters/system/ids.ts'
import { openVault } from '../adapters/vault/file-vault.ts'
import { endedSession, factsOfSession, observedOfSession } from '../api/read-events.ts'
import { tellsCost } from '../contract/agent-clis.ts'
import type { LoadedAgents } from '../contract/agent-definition.ts'
import type { Config, LoadedConfig } from '../contract/config.ts'
import type { Draft } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { fleet } from '../contract/ids.ts'
import type { Api } from '../contract/routes.ts'
import { isEstimate } from '../core/ledger/cost-view.ts'
import type { PriceBook } from '../core/ledger/price-book.ts'
import { Budgets } from '../engine/budgets.ts'
import { Engine } from '../engine/engine.ts'
import type { TrustedProjects } from '../engine/project-trust.ts'
import type { Parked, Reactor } from '../engine/react.ts'
import { type LiveHub, liveHub } from '../http/live.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { AgentDefinitions, AgentProject, CrewDefinitions } from '../ports/definitions.ts'
import type { ReadFacts, ReadObserved } from '../ports/facts.ts'
import type { JournalFinding, JournalReader } from '../ports/journal.ts'
import type { Vault } from '../ports/storage.ts'
import { type Authority, openAuthority } from './authority.ts'
import {
  followedSeq,
  givenEnvironment,
  type HomeFiles,
  homeFiles,
  shippedFolder,
  usableHome,
} from './home.ts'
import { IndexClient, IndexThread } from './index-thread.ts'
import { priceBook } from './price-book.ts'
import { keepTrust, openTrust } from './project-trust.ts'
import { daemonRedaction, redactorOptions } from './redaction.ts'
import { scriptParser } from './script-parser.ts'

export type DaemonOptions = {
  readonly home: string
  /** The state folder of a machine on which nobody chose another. */
  readonly usualHome: string
  readonly settings: DaemonConfig
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's home folder. */
  readonly userHome: string
  readonly agents: AgentDefinitions
  readonly crews: CrewDefinitions
  /** The project in which the daemon was started. */
  readonly projectRoot: string
  readonly onBug: (error: unknown, where: string) => void
  /** Told at the start of each file of the journal that is not as it was left. */
  readonly onDamage: (what: string) => void
  /** Asked for over HTTP; the process decides how to end. */
  readonly onShutdown: () => void
}

/** One part of the product: what it answers, what it does when something happened, and how it starts and stops. */
export type Feature<Routes extends Partial<Api> = Partial<Api>> = {
  readonly routes?: Routes
  readonly reactors?: readonly Reactor[]
  /** Before anybody can call: takes up what the last daemon left. */
  prepare?(): Promise<void>
  /** Once the daemon can be reached. */
  start?(): Promise<void>
  stop?(): Promise<void> | void
}

/** What every feature stands on. */
export type Base = {
  readonly options: DaemonOptions
  readonly config: Config
  readonly files: HomeFiles
  /** The environment without the names that have no value. */
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
  readonly index: IndexClient
  readonly thread: IndexThread
  readonly engine: Engine
  readonly vault: Vault
  readonly authority: Authority
  readonly redaction: ReturnType<typeof daemonRedaction>
  /** What a person trusts of projects. */
  readonly trusted: TrustedProjects
  /** A project with what is trusted of it. */
  readonly project: (root: string) => AgentProject
  /** The agents that count in a folder: those of its project, the user's and the shipped ones. */
  readonly agentsIn: (folder: string, signal: AbortSignal) => Promise<LoadedAgents>
  /** The settings in force for work in a folder: the user's, and what its project may add to them. */
  readonly settingsIn: (where: WorkPlace, signal: AbortSignal) => Promise<LoadedConfig>
  readonly parser: ReturnType<typeof scriptParser>
  readonly prices: PriceBook
  readonly budgets: Budgets
  /** Where words go that are seen live and not kept. */
  readonly live: LiveHub
  /** The facts of a session of some types, oldest first. */
  readonly facts: ReadFacts
  /** The same, and what an agent program's hooks and record show. */
  readonly observed: ReadObserved
  /** Where the daemon is reached; empty until it listens. */
  readonly url: () => string
  readonly onBug: DaemonOptions['onBug']
  readonly onParked: (follower: string, parked: Parked) => void
}

/** How long what was used is waited for: an index that hangs must not hold up all work for ever. */
const countMs = 10_000

/** Opens the journal and folds state from it, with all that reads and writes it; `parts` closes it again. */
export async function openBase(
  options: DaemonOptions,
  { parts, url }: { readonly parts: AsyncDisposableStack; readonly url: () => string },
): Promise<Base> {
  const { config } = options.settings.loaded
  const clock = systemClock
  const ids = systemIds(clock)
  const { onBug, onDamage } = options
  const files = homeFiles(await usableHome(options.home))
  const journal = await Journal.open({
    dir: files.journal,
    clock,
    fsync: config.journal.fsync,
    groupMs: config.journal.group_commit_ms,
    groupEvents: config.journal.group_commit_events,
    segmentBytes: config.journal.segment_bytes,
    reserveBytes: config.journal.reserve_bytes,
    knownSeq: await followedSeq(files),
  })
  parts.defer(() => journal.close())
  const onParked = (follower: string, parked: Parked): void => {
    noteParked({ engine, journal }, follower, parked).catch((error: unknown) => onBug(error, follower))
  }
  const thread = new IndexThread(files, {
    bug: (error) => onBug(error, 'index thread'),
    parked: onParked,
    rebuilt: () => {
      index.reopen().catch((error: unknown) => onBug(error, 'index questions'))
    },
  })
  const index = new IndexClient({ index: files.index, search: files.search }, thread)
  const redaction = daemonRedaction(redactorOptions(config.redaction, options.env))
  parts.defer(() => index.close())
  parts.defer(() => redaction.close())
  const engine: Engine = new Engine({
    journal,
    blobs: journal.blobs,
    clock,
    ids,
    redact: redaction.redact,
    endedSession: (id) => endedSession(id, { journal, index }),
  })
  const cut = await journal.load(engine.replay)
  parts.defer(async () => {
    if (journal.health() !== 'poisoned') await journal.snapshot(engine.snapshot())
  })
  parts.defer(() => thread.stop())
  const vault = await openVault(files.vault, files.vaultKey)
  parts.defer(() => vault.close())
  thread.start(journal.watermark())
  journal.onDurable((watermark) => thread.advance(watermark))
  journal.onRotate(() => {
    journal.snapshot(engine.snapshot()).catch((error: unknown) => onBug(error, 'snapshot'))
  })
  if (cut)
    await engine.record([
      fleetFact({
        type: 'journal.recovered',
        payload: {
          segment: cut.segment,
          cutBytes: cut.bytes,
          keptAs: cut.keptAs,
          lastSeq: journal.watermark(),
          reason: cut.reason,
        },
      }),
    ])
  const findings = journal.findings()
  if (findings.length > 0) await tellDamage(findings, { engine, onDamage })
  await keepTrust(files.trust, engine)
  const parser = scriptParser()
  parts.defer(() => parser.close())
  const trust = openTrust({
    ...options,
    home: options.userHome,
    engine,
    file: files.trust,
    parse: parser.parse,
    shippedScripts: shippedFolder('workflows'),
  })
  parts.defer(() => trust.stop())
  const { trusted } = trust
  const prices = priceBook(config.models.prices)
  const grants = engine.lapsed()
  if (grants > 0) await engine.record([fleetFact({ type: 'authority.lapsed', payload: { grants } })])
  return {
    options,
    config,
    files,
    env: givenEnvironment(options.env),
    clock,
    ids,
    journal,
    index,
    thread,
    engine,
    vault,
    authority: await openAuthority(files, clock),
    redaction,
    trusted,
    project: (root) => ({ root, trusts: trusted.in(root) }),
    async agentsIn(folder, signal) {
      // A folder that is not there is refused by whoever would work in it.
      const found = await findProject(folder, options.userHome).catch(missing)
      const root = found?.root ?? folder
      return options.agents.load({ root, trusts: trusted.in(root) }, signal)
    },
    settingsIn: (where, signal) => settingsIn(options.settings, { ...where, trusted }, signal),
    parser,
    prices,
    budgets: new Budgets({
      engine,
      ids,
      async used(sessionId) {
        await index.reached(journal.watermark(), AbortSignal.timeout(countMs))
        const [sum] = await index.ask('usage', { sessionId, isSubtree: true })
        const isEstimated = sum !== undefined && isEstimate(sum)
        return { tokens: sum?.tokens ?? 0, usd: sum?.costUsd ?? null, isEstimate: isEstimated }
      },
      async unpriced(sessionId) {
        const used = await index.ask('usage', { sessionId, isSubtree: true, by: 'session' })
        const models = used.flatMap(({ of: id, unpriced }) => {
          const state = id === null ? undefined : engine.session(id as SessionId)
          // A CLI that tells its cost tells a sum, and only after the call.
          const isOpen = unpriced > 0 && state !== undefined && !tellsCost(state.managed?.cli)
          return isOpen ? [index.ask('usage', { sessionId: state.sessionId, by: 'model' })] : []
        })
        const names = (await Promise.all(models)).flat().flatMap(({ of: model }) => model ?? [])
        return [...new Set(names)].filter((model) => !prices.knows(model))
      },
    }),
    live: liveHub({ watermark: () => journal.watermark() }),
    facts: factsOfSession({ journal, index }),
    observed: observedOfSession({ journal, index }),
    url,
    onBug,
    onParked,
  }
}

/** A folder, and whether a work tree is made of it first. */
type WorkPlace = { readonly folder: string; readonly isForWorktree?: boolean }

async function settingsIn(
  settings: DaemonConfig,
  { folder, trusted, isForWorktree = false }: WorkPlace & { readonly trusted: TrustedProjects },
  signal: AbortSignal,
): Promise<LoadedConfig> {
  const source = { cwd: folder, projectTrust: (root: string) => trusted.in(root), isForWorktree }
  // A folder that is not there is refused by whoever would work in it.
  return (await settings.inProject(source, signal).catch(missing)) ?? settings.loaded
}

/** A fact about Muster itself. */
export const fleetFact = (draft: Pick<Draft, 'type' | 'payload'>): Draft =>
  ({ ...fleet, actor: 'daemon', ...draft }) as Draft

/** Says in the log and writes down which files of the journal are not as they were left. */
export async function tellDamage(
  findings: readonly JournalFinding[],
  { engine, onDamage }: { readonly engine: Engine } & Pick<DaemonOptions, 'onDamage'>,
): Promise<void> {
  for (const { file, reason } of findings) onDamage(`${file} ${reason}`)
  await engine.record([fleetFact({ type: 'journal.damaged', payload: damagePayload(findings) })])
}

/** Of a folder that lost its files the first say enough. */
const mostNamed = 20

const damagePayload = (findings: readonly JournalFinding[]) => ({
  count: findings.length,
  files: findings.slice(0, mostNamed).map(({ file, reason }) => ({ file: basename(file), reason })),
})

/** Writes down that a follower set an event aside; never for such a note itself, which could go on for ever. */
async function noteParked(
  { engine, journal }: { engine: Engine; journal: JournalReader },
  follower: string,
  { seq, error }: Parked,
): Promise<void> {
  const [stored] = await journal.page(seq - 1, 1)
  // One that cannot be read has no such event in its place, and is passed once.
  if (stored?.seq === seq && stored.event.type === 'event.parked') return
  await engine.record([
    fleetFact({ type: 'event.parked', payload: { follower, seq, error: error.slice(0, 1000) } }),
  ])
}
