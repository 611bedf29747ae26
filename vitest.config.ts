import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const pure = ['src/{contract,core,session-file,ports,client}/**/*.test.ts']

/** Real coding CLIs: `npm run test:long` runs every pinned version of them at length. */
const realClis = 'test/real-cli/**/*.test.ts'

/** What `npm test` runs of it, with the newest Claude Code and Codex: turns, permissions and completion. */
const essential = 'test/real-cli/{turn,permission}.test.ts'

/**
 * What takes long because it is special: whole crews in all their ways, campaigns in short, every provider, setting and
 * weapon, each wall, each rule of authority, each command in a session. Its plain case is in the files that stay.
 */
const atLength = [
  'test/workflow/{limits,task-checks,crew-{kill,failures,ways,programs,closing,reviewers},collaboration-files}.test.ts',
  'test/workflow/{recorded-messages,acceptance,delivery,unit-of-work,nested,layers,agent-program-file}.test.ts',
  'test/faults/{own-agents,own-agents-kill,delivery,spawn-kill,kill,disk}.test.ts',
  'test/system/{orphans,first-start,provider-faults,servers,config-keys,demo,success-figures,hostile-output}.test.ts',
  'test/system/{asked-by,trust,own-session,damaged-journal,leftovers,secrets,authority,isolation,survival}.test.ts',
  'test/system/{hostile-{campaign,session},invariants,runtime-{contract,tools},notices,cancel-in-time}.test.ts',
  'test/system/{edges,doctor,shown,document-3,session-cli,watch}.test.ts',
  'test/cli/agents-new.test.ts',
  'src/adapters/git/{hostile-repository,merges}.test.ts',
]

/**
 * The folders with the longest files, in the order they begin: none of them is left over when the others are done. After
 * them what starts many programs: a start copies the page tables of its process, 4 ms for each 100 MB that the files
 * before left in it.
 */
const slowest = [
  'test/real-cli/',
  'test/faults/',
  'test/workflow/',
  'test/system/',
  'src/adapters/git/',
  'src/adapters/tools/',
  'src/adapters/scripts/',
  'src/workflow/script/',
  'test/cli/',
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = slowest.findIndex((folder) => moduleId.includes(folder))
      return found < 0 ? slowest.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowestFirst },
    // Node runs the sources as they are: a third less work for what is pure than with every module rewritten by vite.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Files share their process: what one of them puts in place of something is put back before the next test.
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    setupFiles: ['test/support/same-process.ts'],
    // For what hangs. No test is to fail because the machine is busy: how long something takes is never judged by these.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // Much of the time is spent waiting for programs: more workers than cores keep the cores busy.
    maxWorkers: Math.ceil(availableParallelism() * 3.5),
    projects: [
      // What has no effects leaves nothing behind for the next file, so the files share their workers.
      { extends: true, test: { name: 'pure', include: pure, pool: 'threads', isolate: false } },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['src/**/*.test.ts', 'test/!(real-cli)/**/*.test.ts', 'test/*.test.ts', essential],
          exclude: [...pure, ...atLength],
          pool: 'forks',
          // A file in a process of its own costs half a second more, and each puts back what it changes in its process.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'matrix',
          include: [realClis],
          pool: 'forks',
          env: { MUSTER_TEST_CLIS: 'others' },
          // Some go through many turns, and each waits for a real CLI as long as it takes.
          testTimeout: 900_000,
        },
      },
      { extends: true, test: { name: 'crews', include: atLength, pool: 'forks', isolate: false } },
    ],
  },
})
