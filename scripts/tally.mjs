// Judges test runs by vitest's JSON reports: node scripts/tally.mjs CHECK-EXIT REPORT TEST-EXIT [REPORT TEST-EXIT ...]
import { readFileSync } from 'node:fs'

const [checkExit, ...runs] = process.argv.slice(2)
const faults = checkExit === '0' ? [] : ['failed: npm run check']
let passed = 0
for (let i = 0; i < runs.length; i += 2) {
  const judged = judge(readReport(runs[i]), Number(runs[i + 1]))
  passed += judged.passed
  faults.push(...judged.faults)
}
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.stdout.write(`${passed} passed, ${faults.length} failed\n`)
process.exitCode = faults.length === 0 ? 0 : 1

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    // No report means that vitest did not get as far as writing one; its exit code tells the rest.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

function judge(report, testExit) {
  const files = report?.testResults ?? []
  const tests = files.flatMap((result) => result.assertionResults)
  const faults = [
    ...tests.filter((test) => test.status !== 'passed').map((test) => `${test.status}: ${test.fullName}`),
    ...files
      .filter(
        (result) =>
          result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed'),
      )
      .map((result) => `failed to load: ${result.name}`),
  ]
  const passed = tests.filter((test) => test.status === 'passed').length
  if (passed === 0) faults.push('failed: no test passed')
  // An error outside any test fails the run although every test passed.
  else if (testExit !== 0 && faults.length === 0) faults.push(`failed: the tests ended with exit ${testExit}`)
  return { passed, faults }
}
