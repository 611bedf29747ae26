import { versionIn } from '../../contract/formats/claude/version.ts'
import { type Asking, askProgram } from '../system/run-program.ts'

/** The version of the program, or nothing when it is not there or is something else. */
export async function askVersion(command: string, asking: Asking): Promise<string | undefined> {
  const ran = await askProgram(command, ['--version'], asking)
  return ran?.code === 0 && ran.stdout.includes('Claude Code') ? versionIn(ran.stdout) : undefined
}
