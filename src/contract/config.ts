import * as z from 'zod'
import {
  HttpConfig,
  JournalConfig,
  RedactionConfig,
  TmuxConfig,
  VaultConfig,
} from './config/daemon-settings.ts'
import { ModelsConfig } from './config/model-settings.ts'
import { RuntimeConfig } from './config/runtime-settings.ts'
import {
  ChildAgentsConfig,
  ClaudeConfig,
  ClisConfig,
  LimitsConfig,
  SessionsConfig,
} from './config/session-settings.ts'
import type { NamedProgram } from './definition-file.ts'

/** The whole of `config.yaml`: every key has a default or may be absent, so an empty file is valid. */
export const Config = z.strictObject({
  claude: ClaudeConfig,
  clis: ClisConfig,
  child_agents: ChildAgentsConfig,
  sessions: SessionsConfig,
  limits: LimitsConfig,
  models: ModelsConfig,
  runtime: RuntimeConfig,
  journal: JournalConfig,
  redaction: RedactionConfig,
  http: HttpConfig,
  tmux: TmuxConfig,
  vault: VaultConfig,
})
export type Config = z.infer<typeof Config>

/** The configuration of a machine without any file; frozen, since everybody shares it. */
export const defaultConfig: Config = frozen(Config.parse({}))

/** Where the value of a key was written, or that nobody wrote it. */
export type ConfigOrigin = { readonly file: string; readonly line: number } | 'default'

/** The project file that was found, and what of it does not hold. */
type ProjectConfig = {
  readonly file: string
  readonly sha256: string
  readonly trusted: boolean
  /** What it sets once it is trusted. */
  readonly waiting: readonly { readonly key: string; readonly value: unknown }[]
  /** Files of the project that its commands name. */
  readonly programs: readonly NamedProgram[]
  /** What it may not decide, as it is now, and how people are told. */
  readonly ignored: readonly string[]
  readonly warnings: readonly string[]
}

/** The configuration in force, and where each of its values comes from. */
export type LoadedConfig = {
  readonly config: Config
  readonly origins: Readonly<Record<string, ConfigOrigin>>
  readonly warnings: readonly string[]
  readonly files: readonly string[]
  readonly project?: ProjectConfig
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) frozen(child)
  return Object.freeze(value)
}
