import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type HttpHook = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** Hooks and transcript of one conversation, in the shapes of Claude Code. */
export function reporter({ settings, session }: { settings: string; session: string }) {
  const cwd = process.cwd()
  const transcript = join(
    process.env['CLAUDE_CONFIG_DIR'] ?? '',
    'projects',
    cwd.replaceAll(/[^A-Za-z0-9]/g, '-'),
    `${session}.jsonl`,
  )
  mkdirSync(dirname(transcript), { recursive: true })
  const hook = httpHook(settings)
  const common = { session_id: session, transcript_path: transcript, cwd, permission_mode: 'default' }
  return {
    /** Tells a hook; undefined when nobody answers. */
    async tell(event: string, more: object = {}, signal?: AbortSignal): Promise<Record<string, unknown>> {
      try {
        const response = await fetch(hook.url, {
          method: 'POST',
          headers: { ...hook.headers, 'content-type': 'application/json' },
          body: JSON.stringify({ ...common, hook_event_name: event, ...more }),
          ...(signal && { signal }),
        })
        return response.ok ? ((await response.json()) as Record<string, unknown>) : {}
      } catch {
        // The daemon is down, or the question was answered here.
        return {}
      }
    },
    write(line: Record<string, unknown>, at = Date.now()): void {
      const entry = {
        uuid: randomUUID(),
        sessionId: session,
        timestamp: new Date(at).toISOString(),
        version: '2.1.325',
        cwd,
        ...line,
      }
      appendFileSync(transcript, `${JSON.stringify(entry)}\n`)
    },
  }
}

function httpHook(settings: string): HttpHook {
  const { hooks } = JSON.parse(readFileSync(settings, 'utf8')) as {
    hooks: { Stop: { hooks: { url: string; headers: Record<string, string> }[] }[] }
  }
  const found = hooks.Stop[0]?.hooks[0]
  if (!found) throw new Error('the settings have no hook for Stop')
  const headers = Object.fromEntries(
    Object.entries(found.headers).map(([name, value]) => [
      name,
      value.replaceAll(/\$(\w+)/g, (_all, variable: string) => process.env[variable] ?? ''),
    ]),
  )
  return { url: found.url, headers }
}
